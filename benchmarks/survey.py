"""Some 290 functions, forward, on a thousand, a hundred thousand and a million elements: to find out where PyTorch is
faster. `python -m benchmarks survey --only gather` times some of them alone."""

from __future__ import annotations

import functools
import math
from typing import Any

from benchmarks.workload import Step, Workload

COUNTS = (1_000, 100_000, 1_000_000)

# x has numbers of both signs, y positive ones, i integers and b bools, as many of each; m and p are square matrices, ix
# and im indices of their rows and elements, ixn of x; t3 is a stack of matrices, img a batch of images, h bfloat16, c
# complex, xd float64, s a small matrix.
ELEMENTWISE = """
x.neg() x.abs() x.exp() y.log() y.sqrt() y.rsqrt() x.sin() x.cos() x.tan() x.tanh() x.sigmoid() x.relu() x.erf()
x.erfinv() x.floor() x.ceil() x.round() x.trunc() x.frac() x.sign() x.square() y.reciprocal() y.log1p() x.expm1()
y.log2() y.log10() x.exp2() x.asin() x.acos() x.atan() x.sinh() x.cosh() x.asinh() y.lgamma() y.digamma() x.isnan()
x.isfinite() x.logical_not() x.nan_to_num() F.gelu(x) F.silu(x) F.mish(x) F.elu(x) F.selu(x) F.celu(x) F.softplus(x)
F.hardswish(x) F.hardtanh(x) F.hardsigmoid(x) F.leaky_relu(x) F.logsigmoid(x) F.relu6(x) F.softsign(x) F.tanhshrink(x)
F.prelu(x,y[:1]) F.dropout(x,.5) x+y x-y x*y x/y y.pow(y) torch.atan2(y,x) torch.maximum(x,y) torch.fmax(x,y)
torch.fmod(y,x) torch.remainder(y,x) torch.hypot(x,y) torch.copysign(y,x) x==y x<y torch.logical_and(x,y)
torch.floor_divide(y,x) torch.xlogy(y,y) torch.logaddexp(x,y) i&i i|i i^i i<<i x+1 x*2 1-x 1/y y**2 y**.5 y**3 x>0 i+1
i*i i//3 i%3 i==3 i/3 b&b ~b i32+i32 x+i m+m[0] m*m[:,:1] m+m.t() x.clamp(-1,1) x.clamp(min=0) torch.where(b,x,y)
torch.where(b,x,0.) torch.lerp(x,y,.3) torch.addcmul(x,x,y) torch.addcdiv(x,x,y) x.masked_fill(b,0.) x[::2]+1
x.double() i.float() x.long() x.half() x.bfloat16() b.float() xd+xd xd.exp() xd.sum() xd.tanh() c*c c.abs() c.real+1
c.exp() h+h h.exp() h.sum() h.float() x.add_(0.) x.mul_(1.)
"""
REDUCTIONS = """
x.sum() x.mean() x.max() x.argmax() y.prod() x.std() m.var(1) x.norm() m.norm(dim=1) m.sum(0) m.sum(1) m.mean(1)
m.max(1) m.max(0) m.argmax(1) m.amin(0) m.logsumexp(1) p.prod(1) b.all() b.any() b.sum() i.sum() torch.count_nonzero(b)
x.median() m.median(1) x.quantile(.3) x.cumsum(0) m.cumsum(1) m.cumsum(0) y.cumprod(0) x.cummax(0) x.logcumsumexp(0)
x.diff() x.sort() m.sort(1) x.argsort() x.topk(10) m.topk(5) x.kthvalue(5) i.unique() i.bincount() x.histc(50)
torch.searchsorted(y,x) torch.bucketize(x,y[:30]) torch.isin(i,i[:5]) torch.allclose(x,x) torch.equal(x,x)
"""
SHAPES_AND_INDICES = """
torch.cat([x,y]) torch.cat([m,p],1) torch.stack([x,y]) torch.stack([m,p],-1) x.clone() m.t().contiguous()
t3.permute(2,0,1).contiguous() x.flip(0) x.roll(5) m.repeat(2,2) x.repeat_interleave(2) m.tril() m.diag() m.trace()
F.pad(m,(1,1)) m[:1].expand_as(m).contiguous() x.unfold(0,3,1).sum(1) x.split(100) x.view(-1) x[None] x[0] x[1:5]
m[0,1] m[:,0] x[0].item() x[:100].tolist() x[b] x[ixn] m[ix] m[:,ix] m[ix,ix] m.gather(1,im) m.gather(0,im)
m.scatter(1,im,1.) m.scatter_add(1,im,p) m.index_select(0,ix) m.index_select(1,ix) m.index_add(0,ix,p) x.take(ixn)
b.nonzero() x.masked_select(b) F.one_hot(ix,len(m)) F.embedding(ix,m) z.index_put_((ixn,),y,accumulate=True)
F.pixel_shuffle(img,2)
"""
CREATION = """
torch.zeros(n) torch.ones(n) torch.full((n,),1.) torch.zeros_like(x) torch.ones_like(x) torch.full_like(x,2.)
torch.empty_like(x) torch.arange(n) torch.linspace(0,1,n) torch.eye(len(m)) torch.tensor([1.,2,3]) torch.randn(n)
torch.rand(n) torch.randn_like(x) torch.randint(0,10,(n,)) torch.randperm(n) torch.bernoulli(y/2) z.exponential_()
z.uniform_(-1,1) z.normal_() torch.multinomial(p,1) torch.tril_indices(50,50)
"""
PRODUCTS_AND_LAYERS = """
m@p m@m[0] x@y t3@t3 torch.outer(m[0],m[1]) torch.einsum('ij,kj->ik',m,p) torch.einsum('bij,bjk->bik',t3,t3)
torch.addmm(m,m,p) torch.cdist(m[:50],p[:50]) torch.tensordot(m,p,1) torch.kron(m[:5,:5],p[:5,:5]) F.linear(m,p,m[0])
m.softmax(1) m.softmax(0) m.log_softmax(1) F.layer_norm(m,m.shape[1:]) F.rms_norm(m,m.shape[1:]) F.group_norm(img,2)
F.batch_norm(img,None,None,training=True) F.cross_entropy(m,ix) F.nll_loss(m,ix) F.mse_loss(x,y) F.l1_loss(x,y)
F.smooth_l1_loss(x,y) F.binary_cross_entropy_with_logits(x,y) F.kl_div(x,y,reduction='sum') F.cosine_similarity(m,p)
F.normalize(m) F.glu(t3) F.max_pool2d(img,2) F.avg_pool2d(img,2) F.adaptive_avg_pool2d(img,2)
F.interpolate(img,scale_factor=2) F.unfold(img,3) F.conv2d(img,img[:,:,:3,:3]) F.scaled_dot_product_attention(t3,t3,t3)
torch.linalg.inv(s) torch.linalg.solve(s,s[:,:2]) torch.linalg.det(s) torch.linalg.svd(s) torch.linalg.eigh(s)
torch.linalg.qr(s) torch.linalg.cholesky(s@s.t()) torch.fft.fft(x) torch.fft.rfft(x) torch.fft.fft2(m)
"""
EXPRESSIONS = (ELEMENTWISE + REDUCTIONS + SHAPES_AND_INDICES + CREATION + PRODUCTS_AND_LAYERS).split()


@functools.lru_cache(maxsize=1)
def tensors(torch: Any, n: int) -> dict[str, Any]:
    """What the expressions speak of."""
    torch.manual_seed(0)
    side = math.isqrt(n)
    even, small = side // 4 * 2, side // 4 + 2
    made = {"x": torch.randn(n), "y": torch.rand(n) + 0.5, "z": torch.rand(n), "i": torch.randint(0, 60, (n,))}
    made |= {"b": made["z"] > 0.5, "i32": made["i"].int(), "xd": made["x"].double(), "h": made["x"].bfloat16()}
    made |= {"c": torch.complex(made["x"], made["y"]), "ixn": torch.randint(0, n, (n,))}
    made |= {"m": torch.randn(side, side), "p": torch.rand(side, side) + 0.1, "s": torch.eye(30) + torch.rand(30, 30)}
    made |= {"ix": torch.randint(0, side, (side,)), "im": torch.randint(0, side, (side, side))}
    made |= {"t3": torch.randn(4, even, even), "img": torch.randn(2, 4, small, small)}
    return made


def step_of(torch: Any, expression: str, n: int) -> Step:
    step: Step = eval(f"lambda: {expression}", {"torch": torch, "F": torch.nn.functional, "n": n, **tensors(torch, n)})
    return step


def survey_name(expression: str, n: int) -> str:
    return f"survey: {expression}, {n:,}"


SURVEY: dict[str, Workload] = {}
for n in COUNTS:
    for expression in EXPRESSIONS:
        name = survey_name(expression, n)
        size = {"expression": expression, "n": n}
        SURVEY[name] = Workload(name, "Survey", step_of, size, {**size, "n": 400})
