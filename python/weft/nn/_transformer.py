"""Attention of several heads and the transformer's layers (Vaswani et al., 2017)."""
import copy

from .. import _core
from . import functional as F
from . import init
from ._containers import ModuleList
from ._functions import Dropout
from ._layers import Linear, empty, keys_of, whole
from ._module import Module
from ._normalizations import LayerNorm

__all__ = ["MultiheadAttention", "Transformer", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder",
           "TransformerEncoderLayer"]


class MultiheadAttention(Module):
    """(result, weights) of attention in several heads. Inputs (length, batch, features), or (batch, length, features) with batch_first,
    or (length, features).

    >>> attention = wf.nn.MultiheadAttention(8, num_heads=2, batch_first=True)
    >>> x = wf.random.normal((5, 7, 8))
    >>> result, weights = attention(x, x, x)
    >>> result.shape, weights.shape
    ((5, 7, 8), (5, 7, 7))
    >>> wf.allclose(wf.sum(weights, axis=-1), 1., atol=1e-6)
    True
    """

    def __init__(self, embed_dim, num_heads, dropout=0.0, bias=True, add_bias_kv=False, add_zero_attn=False, kdim=None, vdim=None,
                 batch_first=False, device=None, dtype=None, *, key=None):
        super().__init__()
        embed_dim, num_heads, kdim, vdim = whole(embed_dim, num_heads, kdim, vdim)
        if embed_dim <= 0 or num_heads <= 0 or embed_dim % num_heads:
            raise ValueError(f"MultiheadAttention: embed_dim, {embed_dim}, must be a multiple of num_heads, {num_heads}")
        self.embed_dim, self.num_heads, self.dropout, self.batch_first = embed_dim, num_heads, dropout, batch_first
        self.kdim, self.vdim = embed_dim if kdim is None else kdim, embed_dim if vdim is None else vdim
        self.head_dim, self.add_zero_attn = embed_dim // num_heads, add_zero_attn
        self._same = self.kdim == embed_dim and self.vdim == embed_dim
        keys = keys_of(key, 6)

        def drawn(shape, key, draw=init.xavier_uniform_):
            return draw(empty(shape, device, dtype), generator=key)
        apart = {"q_proj_weight": embed_dim, "k_proj_weight": self.kdim, "v_proj_weight": self.vdim}
        for (name, size), each in zip(apart.items(), keys):
            self.register_parameter(name, None if self._same else drawn((embed_dim, size), each))
        self.register_parameter("in_proj_weight", drawn((3 * embed_dim, embed_dim), keys[0]) if self._same else None)
        self.register_parameter("in_proj_bias", empty((3 * embed_dim,), device, dtype) if bias else None)
        self.out_proj = Linear(embed_dim, embed_dim, bias, device, dtype, key=keys[3])
        if bias:
            init.zeros_(self.out_proj.bias)
        for name, each in (("bias_k", keys[4]), ("bias_v", keys[5])):
            self.register_parameter(name, drawn((1, 1, embed_dim), each, init.xavier_normal_) if add_bias_kv else None)

    def forward(self, query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None, average_attn_weights=True,
                is_causal=False, *, random_key=None):
        turned = self.batch_first and len(query.shape) == 3
        if turned:
            query, key, value = (_core.swapaxes(x, 0, 1) for x in (query, key, value))
        result, weights = F.multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight, self.in_proj_bias, self.bias_k, self.bias_v,
            self.add_zero_attn, self.dropout, self.out_proj.weight, self.out_proj.bias, self.training, key_padding_mask, need_weights,
            attn_mask, not self._same, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight,
            average_attn_weights=average_attn_weights, is_causal=is_causal, random_key=random_key)
        return (_core.swapaxes(result, 0, 1) if turned else result), weights


def _activation(activation):
    if callable(activation):
        return activation
    if activation not in ("relu", "gelu"):
        raise ValueError(f"the activation is 'relu', 'gelu' or a function, not {activation!r}")
    return getattr(F, activation)


class _Block(Module):
    """What the layers of encoder and decoder share: a network of two linear layers, norms and dropouts around the parts."""

    def _make(self, d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias, device, dtype,
              key, parts):
        keys = keys_of(key, 4)
        options = {"device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, key=keys[0], **options)
        if parts == 3:
            self.multihead_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, key=keys[3], **options)
        self.linear1 = Linear(d_model, dim_feedforward, bias, key=keys[1], **options)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, key=keys[2], **options)
        self.norm_first, self.activation = norm_first, _activation(activation)
        for i in range(1, parts + 1):
            setattr(self, f"norm{i}", LayerNorm(d_model, layer_norm_eps, bias=bias, **options))
        for i in range(1, parts + 1):
            setattr(self, f"dropout{i}", Dropout(dropout))

    def _feed(self, x):
        return self.linear2(self.dropout(self.activation(self.linear1(x))))

    def _add(self, x, number, part):
        """x and a part of it, normalised in front or behind."""
        norm, dropout = getattr(self, f"norm{number}"), getattr(self, f"dropout{number}")
        if self.norm_first:
            return x + dropout(part(norm(x)))
        return norm(x + dropout(part(x)))


class TransformerEncoderLayer(_Block):
    """Attention of a sequence to itself, then a network of two linear layers, each with a residual and a normalisation.

    >>> layer = wf.nn.TransformerEncoderLayer(8, nhead=2, dim_feedforward=32, batch_first=True)
    >>> layer(wf.ones((5, 7, 8))).shape
    (5, 7, 8)
    """

    def __init__(self, d_model, nhead, dim_feedforward=2048, dropout=0.1, activation=F.relu, layer_norm_eps=1e-5, batch_first=False,
                 norm_first=False, bias=True, device=None, dtype=None, *, key=None):
        super().__init__()
        self._make(d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias, device, dtype,
                   key, 2)

    def forward(self, src, src_mask=None, src_key_padding_mask=None, is_causal=False):
        def attend(x):
            return self.self_attn(x, x, x, src_key_padding_mask, False, src_mask, is_causal=is_causal)[0]
        return self._add(self._add(src, 1, attend), 2, self._feed)


class TransformerDecoderLayer(_Block):
    """Attention of a sequence to itself, then to a memory, then a network of two linear layers."""

    def __init__(self, d_model, nhead, dim_feedforward=2048, dropout=0.1, activation=F.relu, layer_norm_eps=1e-5, batch_first=False,
                 norm_first=False, bias=True, device=None, dtype=None, *, key=None):
        super().__init__()
        self._make(d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias, device, dtype,
                   key, 3)

    def forward(self, tgt, memory, tgt_mask=None, memory_mask=None, tgt_key_padding_mask=None, memory_key_padding_mask=None,
                tgt_is_causal=False, memory_is_causal=False):
        def attend(x):
            return self.self_attn(x, x, x, tgt_key_padding_mask, False, tgt_mask, is_causal=tgt_is_causal)[0]

        def look(x):
            return self.multihead_attn(x, memory, memory, memory_key_padding_mask, False, memory_mask, is_causal=memory_is_causal)[0]
        return self._add(self._add(self._add(tgt, 1, attend), 2, look), 3, self._feed)


def _causal(mask, is_causal):
    """is_causal is a hint about a mask: without one it says nothing."""
    return mask is not None and bool(is_causal)


class TransformerEncoder(Module):
    """num_layers copies of an encoder layer, one after another.

    >>> layer = wf.nn.TransformerEncoderLayer(8, nhead=2, dim_feedforward=32, batch_first=True)
    >>> encoder = wf.nn.TransformerEncoder(layer, num_layers=3)
    >>> encoder(wf.ones((5, 7, 8))).shape
    (5, 7, 8)
    """

    def __init__(self, encoder_layer, num_layers, norm=None, enable_nested_tensor=True, mask_check=True):
        super().__init__()
        self.layers = ModuleList(copy.deepcopy(encoder_layer) for _ in range(num_layers))
        self.num_layers, self.norm = num_layers, norm

    def forward(self, src, mask=None, src_key_padding_mask=None, is_causal=None):
        for layer in self.layers:
            src = layer(src, mask, src_key_padding_mask, _causal(mask, is_causal))
        return src if self.norm is None else self.norm(src)


class TransformerDecoder(Module):
    """num_layers copies of a decoder layer, one after another."""

    def __init__(self, decoder_layer, num_layers, norm=None):
        super().__init__()
        self.layers = ModuleList(copy.deepcopy(decoder_layer) for _ in range(num_layers))
        self.num_layers, self.norm = num_layers, norm

    def forward(self, tgt, memory, tgt_mask=None, memory_mask=None, tgt_key_padding_mask=None, memory_key_padding_mask=None,
                tgt_is_causal=None, memory_is_causal=False):
        for layer in self.layers:
            tgt = layer(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask,
                        _causal(tgt_mask, tgt_is_causal), _causal(memory_mask, memory_is_causal))
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Module):
    """An encoder and a decoder.

    >>> model = wf.nn.Transformer(8, nhead=2, num_encoder_layers=2, num_decoder_layers=2, dim_feedforward=32)
    >>> source, target = wf.ones((7, 5, 8)), wf.ones((6, 5, 8))
    >>> model(source, target).shape
    (6, 5, 8)
    """

    def __init__(self, d_model=512, nhead=8, num_encoder_layers=6, num_decoder_layers=6, dim_feedforward=2048, dropout=0.1,
                 activation=F.relu, custom_encoder=None, custom_decoder=None, layer_norm_eps=1e-5, batch_first=False, norm_first=False,
                 bias=True, device=None, dtype=None, *, key=None):
        super().__init__()
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first
        options = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias, device, dtype)

        def norm():
            return LayerNorm(d_model, layer_norm_eps, bias=bias, device=device, dtype=dtype)
        self.encoder = custom_encoder if custom_encoder is not None else TransformerEncoder(
            TransformerEncoderLayer(*options), num_encoder_layers, norm())
        self.decoder = custom_decoder if custom_decoder is not None else TransformerDecoder(
            TransformerDecoderLayer(*options), num_decoder_layers, norm())
        matrices = [weight for weight in self.parameters() if len(weight.shape) > 1]
        for weight, each in zip(matrices, keys_of(key, len(matrices))):
            init.xavier_uniform_(weight, generator=each)

    @staticmethod
    def generate_square_subsequent_mask(sz, device=None, dtype=None):
        """Minus infinity above the diagonal, 0 elsewhere."""
        from .. import triu
        return triu(_core.full((sz, sz), float("-inf"), _core.float32 if dtype is None else dtype), k=1)

    def forward(self, src, tgt, src_mask=None, tgt_mask=None, memory_mask=None, src_key_padding_mask=None, tgt_key_padding_mask=None,
                memory_key_padding_mask=None, src_is_causal=None, tgt_is_causal=None, memory_is_causal=False):
        memory = self.encoder(src, src_mask, src_key_padding_mask, src_is_causal)
        return self.decoder(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask, tgt_is_causal,
                            memory_is_causal)
