"""Attention."""
from ... import _core

_nn = _core.nn

__all__ = ["multi_head_attention_forward", "scaled_dot_product_attention"]


def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False, *,
                                 random_key=None):
    """softmax(scale * query @ key.T + mask) @ value over (..., length, features). attn_mask: True takes part, or numbers to add; dropout_p
    is applied always, with random_key if there is one; enable_gqa: fewer heads of keys and values.

    >>> same = wf.zeros((3, 1))
    >>> wf.nn.functional.scaled_dot_product_attention(same, same, wf.asarray([[1.], [2.], [6.]]), is_causal=True)
    array([[1. ],
           [1.5],
           [3. ]], dtype=float32)
    """
    return _nn.scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa, random_key)


def multi_head_attention_forward(query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v,
                                 add_zero_attn, dropout_p, out_proj_weight, out_proj_bias, training=True, key_padding_mask=None,
                                 need_weights=True, attn_mask=None, use_separate_proj_weight=False, q_proj_weight=None,
                                 k_proj_weight=None, v_proj_weight=None, static_k=None, static_v=None, average_attn_weights=True,
                                 is_causal=False, *, random_key=None):
    """(result, weights or None) of several heads of attention over (length, batch, features). Masks: True is left out, numbers are added.

    >>> x, eye = wf.asarray([[[1., 0.]], [[0., 1.]]]), wf.eye(2)
    >>> packed = wf.concat([eye, eye, eye])
    >>> result, weights = wf.nn.functional.multi_head_attention_forward(x, x, x, 2, 1, packed, None, None, None, False, 0., eye, None)
    >>> weights
    array([[[0.66976154, 0.33023846],
            [0.33023846, 0.66976154]]], dtype=float32)
    """
    query = _core.asarray(query, None, None)
    if query.shape[-1:] != (embed_dim_to_check,):
        raise ValueError(f"multi_head_attention_forward: the query has the shape {query.shape}, not {embed_dim_to_check!r} features")
    if static_k is not None or static_v is not None:
        raise TypeError("multi_head_attention_forward: static_k and static_v are not taken; hand them over as key and value")
    joined = None if use_separate_proj_weight else in_proj_weight
    apart = (q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else (None, None, None)
    return _nn.multi_head_attention(query, key, value, num_heads, joined, *apart, in_proj_bias, bias_k, bias_v, out_proj_weight,
                                    out_proj_bias, add_zero_attn, dropout_p, training, key_padding_mask, attn_mask, need_weights,
                                    average_attn_weights, is_causal, random_key)
