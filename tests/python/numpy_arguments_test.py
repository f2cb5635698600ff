"""NumPy's arguments as its users give them: by position in NumPy's order, by name, where=, initial=, dtype=, ddof=, order=, lists, arrays
without elements or axes. Each call is evaluated twice, in NumPy and in weft, on the same arrays; values, shapes and kinds of dtypes agree."""
import unittest
import warnings

from built import LACKS, np, wf

CALLS = """
divide(Q,Q); subtract(Q,Q); add(Q,Q); multiply(Q,0); multiply(Q,Q); divide(0,Q); power(Q,2); maximum(Q,Q); divide(Q[::-1],Q[::-1]); power(Q,0); fmod(Q,Q);
sqrt(Q); square(Q); log1p(Q); reciprocal(Q); cov(S); cov([1.]); corrcoef([2.,2.]); corrcoef([1.,2.]); frexp(2)[0]; tril(V,1); triu(I[0]); median(E,0); nanquantile(E,.5,axis=0); permute_dims(N); convolve(V,2.);
geomspace(V[:3]**2+1,[9.,8.,7.],4,dtype=np.float64); geomspace(-1.,-8.,4,axis=-1,dtype=np.float64); gradient([1.,2.,4.]); histogramdd(V,3)[0]; 
linalg.lstsq(C,V[:3],rcond=None)[1].shape; linalg.lstsq(M.T,V[:6],rcond=None)[1]; linalg.matrix_rank(V); poly([1.,2.]); bincount([]);
sum(M,0); sum(M,(0,1)); sum(N,(0,-1),keepdims=True); sum(M,axis=1,where=B); sum(M,where=B,initial=3); sum(I,dtype=np.float64);
sum(M,0,np.float32); sum(S); sum(S,0); sum(S,axis=-1,keepdims=True); max(S,0); argmax(S,0); any(S,axis=0); nansum(S,0); count_nonzero(S,0);
sum(S,axis=()); sum(E,0); sum(E); sum(E,axis=1); prod(M,1); prod(M,where=B,axis=0); prod(E,0);
max(M,0); max(M,1,initial=0.5); max(M,where=B,initial=-9); max(E,0,initial=-1); min(M,-1,keepdims=True);
min(M,where=B,initial=9,axis=0); amax(M,0,initial=5); amin(M,1); mean(M,0); mean(M,where=B); mean(I,axis=1,dtype=np.float64);
mean(M,dtype=np.float64,axis=(0,1),keepdims=True); std(M,0); std(M,ddof=1); std(M,axis=1,ddof=1,keepdims=True);
std(M,where=B,axis=0); std(M,1,ddof=1,where=B); var(M,0,ddof=2); var(M,correction=1); var(Z,axis=0); var(M,where=B); all(B,0);
any(B,1,keepdims=True); all(B,where=M>1); any(B,axis=0,where=M<0); cumsum(M); cumsum(M,1); cumsum(I,0,dtype=np.float64);
cumprod(M,axis=1); cumsum(M,-1,np.float64); diff(M); diff(M,2); diff(M,1,0); diff(M,n=2,axis=0); diff(V,prepend=0);
diff(V,append=[1.,2.]); argmax(M); argmax(M,0); argmin(M,axis=1,keepdims=True); sort(M,0); sort(M,axis=None);
sort(M,-1,'stable'); argsort(M,1); argsort(V,kind='mergesort'); count_nonzero(I); count_nonzero(I,0);
searchsorted(np.sort(V),[0.,.5]); searchsorted(np.sort(V),.5,'right'); searchsorted(V,M,sorter=np.argsort(V)); take(M,[0,3]);
take(M,[0,3],1); take(M,[0,9],axis=1,mode='clip'); take(M,[-1,7],mode='wrap',axis=1); take(V,[[0,1],[2,3]]);
take_along_axis(M,np.argsort(M,1),1); take_along_axis(M,np.argsort(M,axis=None),None); repeat(M,2); repeat(M,2,1);
repeat(M,[1,2,0,1],axis=0); roll(M,1); roll(M,1,1); roll(M,(1,2),(0,1)); roll(M,shift=2,axis=0); flip(M); flip(M,0);
flip(M,(0,1)); moveaxis(N,source=0,destination=-1); swapaxes(N,axis1=0,axis2=2); tile(M,reps=(2,1)); tile(M,2); stack([M,M],1);
stack([M,M],axis=-1); stack([M,I],dtype=np.float64); concatenate([M,M],1); concatenate((M,M),axis=None);
concatenate([I,I],dtype=np.float64); concat([M,M],0); hstack([I,I],dtype=np.float64); vstack([V,V]); ravel(M,'F');
ravel(M,order='C'); reshape(M,(6,4),order='F'); reshape(M,-1); reshape(M,(2,-1),'F'); reshape(N,(5,12),order='F'); pad(M,1);
pad(array=M,pad_width=((1,0),(2,3)),mode='edge'); expand_dims(M,0); expand_dims(M,axis=(0,3)); squeeze(M[:,:1],1);
squeeze(M[:,:1],axis=-1); broadcast_to(V,(2,9)); full((2,3),1.5,np.float64); full(3,2,dtype=np.int64); zeros(3,np.int64);
ones((2,),np.float64); zeros((2,3),order='F',dtype=np.float64); zeros_like(M); zeros_like(M,dtype=np.int64);
ones_like(M,np.int64); full_like(M,3); full_like(I,2,np.float64); zeros_like(M,shape=(2,2)); empty_like(M).shape;
eye(3,k=1,dtype=np.float64); eye(3,4,1,np.float64); identity(3,np.float64); linspace(0.,1.,num=5,dtype=np.float64);
linspace(0,1,5,False,dtype=np.float64); linspace(-1.5,1.5,4,dtype=np.int64); linspace(V[:3],V[3:6],4);
linspace(V[:3],5.,4,axis=-1); linspace(V[:3],V[3:6],4,endpoint=False); linspace(0.,1.,5,retstep=True,dtype=np.float64)[1];
logspace(0.,2.,5,dtype=np.float64); arange(5); arange(2,9,3); arange(0.,1.,.3,dtype=np.float64); array([[1.,2.]],np.float64);
array(V,ndmin=3); array([1,2],dtype=np.float64,copy=True); asarray(V,np.float64); asarray(M,order='C');
meshgrid(V,[1.,2.],sparse=True)[1]; meshgrid(V,[1.,2.],indexing='ij')[0];
meshgrid(V,[1.,2.],[1.,2.,3.],sparse=True,indexing='xy')[0]; tril(M,1); triu(M,-1); triu(M,k=1); clip(M,0,1);
clip(M,a_min=0,a_max=.5); clip(M,None,.2); clip(M,a_max=.2,a_min=None); clip(I,V[:6],5); clip(M,max=.1); clip(M,min=.1);
tensordot(M,M,((0,1),(0,1))); tensordot(M,M.T,1); tensordot(N,M,axes=([1],[0])); einsum('ij,ij->i',M,M);
einsum(M,[0,1],M,[0,1],[0]); einsum(M,[0,1],M.T,[1,2]); einsum('ij,jk',M,M.T,optimize=True); einsum('...ij->...ji',N);
einsum('ii',C); nansum(G,0); nansum(G,axis=1,keepdims=True); nanmean(G,0); nanmean(G,where=B,axis=0); nanstd(G,ddof=1);
nanvar(G,0,ddof=1); nanmax(G,1); nanmin(G,axis=0,initial=-3); nanprod(G,where=B); nancumsum(G,1); nan_to_num(G,nan=7.);
nan_to_num(G,True,3.); nan_to_num(G,copy=False); cov(M,dtype=np.float64); corrcoef(M,rowvar=False); histogram(V,5)[0];
histogram(V,bins=4,range=(-1,1),density=True)[0]; histogram(V,bins=[-1.,0.,1.])[0]; trace(M,1); trace(I,dtype=np.float64);
trace(N,axis1=1,axis2=2); cross(N[:,:,:3],N[:,:,:3][::-1]); cross(M[:3],M[:3][:,::-1],axis=0);
cross(M[:3],M[:3],axisa=0,axisb=0,axisc=0); partition(V,3)[3]; argpartition(V,3,axis=-1)[3]; unique(I);
unique(I,return_counts=True)[1]; unique(np.array([1.,np.nan,np.nan])); unique(np.array([1.,np.nan,np.nan]),equal_nan=False);
unique(I,axis=0); unique(I,True)[1]; isin(I,[1,2],invert=True); isin(I,[1,2],True); round(M,2); round(M,decimals=1); around(M,1);
percentile(M,30); percentile(M,[10,50],axis=0); quantile(M,.3,axis=1,keepdims=True); quantile(M,[.1,.9],method='lower');
median(M,1); average(M,1,weights=[1,2,3,4,5,6]); ptp(M,0); ptp(M,axis=None); interp([.5,1.5],[0.,1.,2.],[3.,4.,8.]);
digitize(V,[0.,.5]); bincount([0,1,1],minlength=5); array_split(V,[2,5])[1]; split(V,np.array([2,5]))[2]; where(B,M,0);
where(B)[0]; select([M>1,M>0],[M,M*2],0.); nonzero(I)[0]; signbit(I); signbit(M); delete([1.,2.,3.],1); insert([1.,2.],1,5.);
apply_along_axis(np.sum,0,M); linalg.norm(M); linalg.norm(M,axis=1); linalg.norm(M,'fro');
linalg.norm(M,1,(0,1)); linalg.norm(M,ord=np.inf,axis=0,keepdims=True); linalg.qr(C,'r'); linalg.qr(C,mode='complete')[0];
linalg.svd(C,False)[1]; linalg.svd(C,compute_uv=False); linalg.eigh(H,'U')[0]; linalg.eigvalsh(np.triu(H),UPLO='U');
linalg.eigvalsh(np.tril(H)); linalg.matrix_rank(C,tol=.1); linalg.matrix_rank(H,hermitian=True); linalg.pinv(C,hermitian=True);
linalg.svd(C,hermitian=True)[1]; linalg.svd(C,compute_uv=False,hermitian=True); diff(V,0,append=1.); linalg.pinv(M,rcond=.1);
linalg.pinv(M,1e-3); linalg.matrix_power(C,n=3); linalg.cond(C,'fro'); fft.fft(V,4); fft.fft(M,None,0);
fft.fft(M,n=5,axis=0,norm='ortho'); fft.fftn(N,(2,2),(0,1)); fft.rfft(V,norm=None); fft.irfft(V+0j,8); fft.fftfreq(5,.5);
fft.fftshift(M,0); can_cast(np.int8,np.int16); can_cast(np.float64,np.float32,'same_kind');
can_cast(np.float64,np.int32,casting='unsafe'); broadcast_arrays([1.,2.],[[1.],[2.]])[0]; vander([1.,2.,3.],increasing=True);
gradient(M,axis=0); gradient(V,2.); trapezoid(M,dx=.5,axis=0); convolve(V,[1.,2.],'same'); rollaxis(N,2); rot90(M,1);
atleast_2d([1.,2.]); outer([1.,2.],V); inner(M,M); kron(C,C); vdot(Z,Z); dot(M,M.T); matmul(M,M.T); allclose(M,M);
searchsorted(np.arange(3),1.5); searchsorted(np.arange(3),np.nan); searchsorted(np.sort(V),1); isscalar(np.int64(2)); 
average([True,False],returned=True); array_equal(M,M); divmod(I,3)[0]; modf(M)[0]; hypot(3.,[4.,5.]); arctan2(M,1.); power(M,2); add(1,[2,3]); maximum(M,0.);
fmax(G,0.); mod(I,3); remainder(M,.5); fmod(I,3); sign(M); heaviside(M,.5); deg2rad(M); isclose(M,M+1e-9); logaddexp(M,1.);
ldexp(M,2); bitwise_and(I,3); left_shift(I+9,2); invert(I); logical_and(B,I)
"""
# NumPy has these from the version on.
NEEDS = {"hstack([I,I],dtype": (1, 24), "concat(": (2, 1), "var(M,correction": (2, 0), "trapezoid(": (2, 0), "unique(np.array": (1, 24), "linalg.matrix_rank(C,tol": (1, 26),
         "clip(M,max": (2, 1), "clip(M,min": (2, 1), "permute_dims(": (2, 0)}


def arrays(convert):
    rng = np.random.default_rng(0)
    m = rng.normal(size=(4, 6))
    c = rng.normal(size=(3, 3))
    found = {"M": m, "I": rng.integers(-5, 6, (4, 6)), "V": rng.normal(size=9), "N": rng.normal(size=(3, 4, 5)), "G": np.where(m > 0.7, np.nan, m),
             "B": m > 0, "S": np.array(2.5), "E": np.zeros((0, 3)), "Z": m + 1j * rng.normal(size=(4, 6)), "C": c, "Q": np.array([0., -0., np.inf, -np.inf, np.nan, 2.]), "H": c @ c.T + 3 * np.eye(3)}
    return {name: convert(x) for name, x in found.items()}


def calls():
    version = tuple(map(int, np.__version__.split(".")[:2]))
    for call in " ".join(CALLS.split("\n")).split(";"):
        call = call.strip()
        if not any(call.startswith(start) and version < since for start, since in NEEDS.items()):
            yield call


@unittest.skipIf(LACKS, f"the Python package, or NumPy: {LACKS}")
class Arguments(unittest.TestCase):
    def test_calls_with_numpys_arguments_give_what_numpy_gives(self):
        theirs, mine = arrays(np.asarray), arrays(wf.asarray)
        for call in calls():
            with self.subTest(call=call), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                want = np.asarray(eval("np." + call, {"np": np, **theirs}))
                # Names of types are either's; a function in an argument is weft's.
                inner = call.replace("np.argsort", "wf.argsort").replace("np.sort", "wf.sort").replace("np.tri", "wf.tri").replace("np.sum", "wf.sum")
                found = np.asarray(eval("wf." + inner, {"np": np, "wf": wf, **mine}))
                self.assertEqual(found.shape, want.shape)
                self.assertEqual(found.dtype.kind, want.dtype.kind)
                np.testing.assert_allclose(found, want, rtol=1e-5, atol=1e-6)

    def test_what_cannot_be_is_refused(self):
        x = wf.ones((2, 3))
        for call, error in [(lambda: wf.max(x, where=x > 0), ValueError), (lambda: wf.std(x, ddof=1, correction=1), ValueError),
                            (lambda: wf.std(x, ddof=None, correction="a"), TypeError), (lambda: wf.sort(x, kind="bogo"), ValueError),
                            (lambda: wf.take(x, [0], 1, mode="round"), ValueError), (lambda: wf.reshape(x, -1, order="Z"), ValueError),
                            (lambda: wf.can_cast(wf.int8, wf.int16, "loosely"), ValueError), (lambda: wf.linalg.eigh(wf.eye(2), "X"), ValueError),
                            (lambda: x.astype(wf.int8, casting="safe"), TypeError), (lambda: wf.einsum(x, 1), TypeError)]:
            with self.assertRaises(error) as refused:
                call()
            self.assertLess(str(refused.exception).count("\n"), 4)

    def test_sizes_below_all_sizes_are_refused(self):
        # -2**63 once was taken for the name of a size, and the process ended.
        for call in (wf.identity, wf.eye, wf.zeros, lambda n: wf.linspace(0, 1, n), lambda n: wf.ones(3).reshape(n)):
            for size in (-2**63, -2**63 + 1, -2**62):
                with self.assertRaises((ValueError, OverflowError)):
                    wf.eval(call(size))

    def test_sizes_beyond_all_memory_are_refused_at_once(self):
        x = wf.ones(3)
        for call in (lambda: wf.resize(0.5, 2**62), lambda: wf.linspace(0, 1, 2**62), lambda: wf.vander(x, 2**61), lambda: wf.array_split(x, 2**40),
                     lambda: wf.vsplit(wf.ones((0, 3)), 2**40), lambda: wf.fft.rfft(x, 2**42), lambda: wf.bincount([1], minlength=2**62)):
            with self.assertRaises(MemoryError):
                wf.eval(call())
        self.assertEqual(wf.diff(x, 2**40).shape, (0,))

    def test_numpys_integers_are_integers_everywhere(self):
        i, x, maps = np.int64, wf.asarray(np.arange(6.0).reshape(2, 3)), wf.ones((1, 1, 4, 4))
        for call in (lambda i: wf.tensordot(x, x, axes=i(2)), lambda i: wf.partition(x, i(1)), lambda i: wf.argpartition(x, i(1)),
                     lambda i: wf.apply_over_axes(wf.sum, x, i(1)), lambda i: wf.linalg.norm(x, axis=i(1)), lambda i: wf.gradient(x, axis=i(0)),
                     lambda i: wf.histogramdd(x, bins=i(2))[0], lambda i: wf.unravel_index(i(3), i(6))[0], lambda i: wf.insert(x, i(1), [7, 8], i(1)),
                     lambda i: wf.vmap(lambda v: v + 1, in_axes=i(1), out_axes=i(1))(x), lambda i: wf.polyint(x[0], k=np.float64(i(2))), lambda i: wf.special.comb(i(5), i(2), exact=True),
                     lambda i: wf.random.permutation(i(4), key=wf.random.key(0)), lambda i: wf.nn.PixelShuffle(i(2))(wf.ones((1, 4, 2, 2))),
                     lambda i: wf.nn.Conv2d(i(1), i(2), i(3), key=wf.random.key(i(0)))(maps), lambda i: wf.nn.LayerNorm(i(3))(x),
                     lambda i: wf.nn.MaxPool2d(i(2), stride=i(1))(maps), lambda i: wf.nn.LPPool2d(i(2), i(2))(maps)):
            np.testing.assert_array_equal(np.asarray(call(i)), np.asarray(call(int)))
        self.assertEqual(repr(wf.nn.PixelShuffle(i(2))), repr(wf.nn.PixelShuffle(2)))
        # Those of 8 bits wrapped where layers multiply sizes.
        key, one = wf.random.key(0), wf.ones((1, 100))
        for call in (lambda i: wf.nn.Conv2d(i(100), i(50), i(3), key=key).weight.value, lambda i: wf.nn.ConvTranspose2d(i(100), i(50), i(3), key=key).weight.value,
                     lambda i: wf.nn.LSTM(i(100), i(100), key=key)(one)[0], lambda i: wf.nn.GRUCell(i(100), i(100), key=key)(one),
                     lambda i: wf.nn.MultiheadAttention(i(100), i(4), key=key)(one, one, one)[0],
                     lambda i: wf.nn.Unflatten(i(1), (i(100), i(100)))(wf.ones((1, 10000))), lambda i: wf.random.choice(i(5), (3,), key=key),
                     lambda i: wf.nn.Embedding(i(4), 3, padding_idx=i(0), key=key).weight.value, lambda i: wf.special.comb(i(100), i(100), exact=True, repetition=True)):
            for small in (np.uint8, np.int8):
                np.testing.assert_array_equal(np.asarray(call(small)), np.asarray(call(int)))
        np.testing.assert_array_equal(wf.tensordot(x, x, np.array([[1], [1]])), np.tensordot(x, x, ([1], [1])))
        for wrong in (1.5, [1], None):
            with self.assertRaisesRegex(TypeError, "tensordot: axes is"):
                wf.tensordot(x, x, wrong)

    def test_numbers_beyond_the_others_type_are_placed_or_refused(self):
        for dtype in ("uint8", "int8", "int32", "int64", "uint64"):
            row = np.array([1, 44, 45, 100], dtype)
            for number in (300, -1, 10**9, 2**40, 2**63 + 5, -2**63, 44.5):
                self.assertEqual(int(wf.searchsorted(wf.asarray(row), number)), int(np.searchsorted(row, number)))
        for call in (lambda x: wf.gcd(x, 300), lambda x: wf.lcm(300, x)):
            with self.assertRaisesRegex(ValueError, "the number 300 does not fit into uint8"):
                call(wf.asarray(np.array([1, 44], "uint8")))

    def test_choices_and_numbers_of_any_kind_are_taken_and_others_named(self):
        x = wf.ones((2, 3))
        self.assertEqual(wf.sum(x, 0, keepdims=1).shape, (1, 3))
        self.assertEqual(wf.sum(x, 0, keepdims=np.False_).shape, (3,))
        self.assertEqual(float(wf.std(wf.asarray([1.0, 3.0]), ddof=np.int64(1))), float(np.float32(2**0.5)))
        for call, message in [(lambda: wf.sum(x, keepdims="no"), "sum: .* is True or False, not 'str'"),
                              (lambda: wf.std(x, ddof="a"), "std: .* is a number, not 'str'"), (lambda: wf.isclose(x, x, rtol="a"), "isclose: rtol is a number, not 'str'"),
                              (lambda: wf.sort(x, "a"), "sort: axis is an integer, not 'str'"), (lambda: wf.linalg.matrix_power(wf.eye(2), 1.5), "matrix_power: n is an integer")]:
            with self.assertRaisesRegex(TypeError, message):
                call()
        with self.assertRaisesRegex(TypeError, r"^array\(\[\[\[1., 1.\],.* is not an element type"):
            wf.sum(x, 0, wf.ones((3, 4, 2)))

    def test_one_number_counts_elements_for_item(self):
        x = wf.reshape(wf.arange(6), (2, 3))
        self.assertEqual((x.item(4), x.item(1, 2), x.item((0, 2)), x.item(-1)), (4, 5, 2, 5))

    def test_bounds_of_another_type_are_not_cut_down_to_x(self):
        found = wf.clip(wf.asarray([1, 100], dtype=wf.int8), wf.asarray([0.5, 300.5]), 1000)
        self.assertEqual(found.tolist(), [1.0, 300.5])

    def test_methods_take_what_functions_take(self):
        x = np.arange(6.0).reshape(2, 3)
        for call in ("sum(0)", "sum(axis=1, dtype='float32')", "max(1, initial=4)", "std(0, ddof=1)", "mean((0, 1), keepdims=True)", "argmax(0)",
                     "argsort(1)", "take([0, 2], 1)", "reshape(3, 2, order='F')", "reshape((3, 2))", "clip(1, 4)",
                     "repeat(2, axis=1)", "cumsum(1)", "astype('float32', copy=False)", "ravel('F')", "flatten('F')", "round(1)"):
            want, found = eval("x." + call, {"x": x}), eval("x." + call, {"x": wf.asarray(x)})
            np.testing.assert_allclose(np.asarray(found), want, err_msg=call)

    def test_axes_become_one_as_pytorchs_method_does_it(self):
        x = wf.zeros((2, 3, 4, 5))
        for call, shape in {"flatten(1)": (2, 60), "flatten(2)": (2, 3, 20), "flatten(0, 1)": (6, 4, 5), "flatten(start_dim=1, end_dim=-2)": (2, 12, 5),
                            "flatten(-2)": (2, 3, 20), "flatten()": (120,), "flatten(end_dim=1)": (6, 4, 5)}.items():
            self.assertEqual(eval("x." + call, {"x": x}).shape, shape, call)
        for call in ("flatten(4)", "flatten(2, 1)", "flatten('Q')", "flatten(0, 9)"):
            with self.assertRaises((ValueError, IndexError), msg=call):
                eval("x." + call, {"x": x})


if __name__ == "__main__":
    unittest.main()
