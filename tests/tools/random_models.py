"""Calls of operators whose costs tpa roofline knows, with every argument that tells them, now and then without one.

    models = random_models.Models(random.Random(7))
    name, args = models.call()
"""

TYPES = ["float", "float", "c10::BFloat16", "c10::Half", "double"]
NUMBERS = ["long int", "int", "bool"]


def strides_of(dims):
    strides = []
    for d in reversed(dims):
        strides.insert(0, strides[0] * max(1, dims[len(dims) - len(strides)]) if strides else 1)
    return strides


class Models:
    def __init__(self, random):
        self.random = random

    def pick(self, *what):
        return self.random.choice(what)

    def size(self):
        return self.pick(1, 2, 3, 5, 8, 16, 0) if self.random.random() < 0.2 else self.pick(2, 3, 5, 8, 16)

    def sizes(self, least, most):
        return [self.size() for _ in range(self.random.randint(least, most))]

    def call(self):
        name, inputs = getattr(self, self.pick("products", "added", "scaled", "convolution", "backward", "attention", "attention_backward", "elements", "elements",
                                               "norm", "softmax", "engines", "reduction", "move", "lookup", "fused"))()
        args = {"Input Dims": [dims for dims, _, _ in inputs], "Input type": [kind for _, kind, _ in inputs],
                "Input Strides": [self.strides(dims) for dims, _, _ in inputs], "Concrete Inputs": [text for _, _, text in inputs]}
        for key in ("Input type", "Input Strides"):
            if self.random.random() < 0.05:
                del args[key]
        return name, args

    def strides(self, dims):
        strides = strides_of(dims)
        return [0 if self.random.random() < 0.1 else s for s in strides]

    def scalar(self, text):
        return [], "Scalar", text

    def numbers(self, *numbers):
        return [], "ScalarList", "[%s]" % ", ".join(map(str, numbers))

    def products(self):
        kind, (a, b, c) = self.pick(*TYPES), self.sizes(3, 3)
        batch = [self.size()] if self.pick(True, False) else []
        out = [(batch + [a, c], kind, "")] if self.random.random() < 0.2 else []
        return "aten::bmm" if batch else "aten::mm", [(batch + [a, b], kind, ""), (batch + [b, c], kind, "")] + out

    def added(self):
        kind, (a, b, c) = self.pick(*TYPES), self.sizes(3, 3)
        batch = [self.size()] if self.pick(True, False) else []
        return "aten::baddbmm" if batch else "aten::addmm", [(self.pick([c], batch + [a, c]), kind, ""), (batch + [a, b], kind, ""), (batch + [b, c], kind, ""),
                                                             self.scalar(self.pick("1", "0", "0.", "2")), self.scalar("1")]

    def scaled(self):
        a, b, c = self.sizes(3, 3)
        kind = "c10::Float8_e4m3fn"
        bias = ([c], "c10::BFloat16", "") if self.pick(True, False) else ([], "", "")
        return "aten::_scaled_mm", [([a, b], kind, ""), ([b, c], kind, ""), ([a, 1], "float", ""), ([1, c], "float", ""), bias, ([], "", ""),
                                    self.scalar(self.pick("15", "6", "")), self.scalar("False")]

    def spatial(self):
        """Sizes of images and kernels, and the numbers of a convolution; not transposed."""
        dimensions, groups = self.pick(1, 2, 2), self.pick(1, 1, 2)
        x = [self.pick(1, 2), 4] + [self.pick(7, 8, 9) for _ in range(dimensions)]
        w = [4, 4 // groups] + [self.pick(1, 3) for _ in range(dimensions)]
        each = lambda *what: [self.pick(*what)] if self.pick(True, False) else [self.pick(*what) for _ in range(dimensions)]
        return x, w, each(1, 2), each(0, 1), each(1, 2), groups

    def convolution(self):
        kind = self.pick("float", "c10::Half")
        x, w, stride, padding, dilation, groups = self.spatial()
        if self.random.random() < 0.3:
            return "aten::cudnn_convolution", [(x, kind, ""), (w, kind, ""), self.numbers(*padding), self.numbers(*stride), self.numbers(*dilation),
                                               self.scalar(str(groups)), self.scalar("False"), self.scalar("False"), self.scalar("True")]
        transposed = self.random.random() < 0.3
        bias = ([4], kind, "") if self.pick(True, False) else ([], "", "")
        return "aten::convolution", [(x, kind, ""), (w, kind, ""), bias, self.numbers(*stride), self.numbers(*padding), self.numbers(*dilation),
                                     self.scalar(str(transposed)), self.numbers(0), self.scalar(str(groups))]

    def backward(self):
        kind = "float"
        x, w, stride, padding, dilation, groups = self.spatial()
        space = [(size + 2 * (padding * 9)[d] - (dilation * 9)[d] * (kernel - 1) - 1) // (stride * 9)[d] + 1 for d, (size, kernel) in enumerate(zip(x[2:], w[2:]))]
        mask = [self.pick(True, False) for _ in range(3)]
        return "aten::convolution_backward", [([x[0], w[0]] + space, kind, ""), (x, kind, ""), (w, kind, ""), self.numbers(w[0]), self.numbers(*stride),
                                              self.numbers(*padding), self.numbers(*dilation), self.scalar("False"), self.numbers(0), self.scalar(str(groups)),
                                              self.numbers(*mask)]

    def heads(self, heads_first):
        kind, (b, h, n, m, d, v) = self.pick("c10::BFloat16", "c10::Half"), [self.pick(1, 2, 3, 5) for _ in range(6)]
        place = lambda heads, tokens, width: ([b, heads, tokens, width] if heads_first else [b, tokens, heads, width], kind, "")
        return place(h, n, d), place(self.pick(1, h), m, d), place(self.pick(1, h), m, v), place(h, n, v)

    def attention(self):
        flag = self.scalar(self.pick("True", "False"))
        q, k, v, _ = self.heads(True)
        which = self.pick("flash", "efficient", "inner")
        if which == "flash":
            return "aten::_scaled_dot_product_flash_attention", [q, k, v, self.scalar("0."), flag, self.scalar("False"), self.scalar("0.25")]
        if which == "efficient":
            mask = ([q[0][2], k[0][2]], "float", "") if self.pick(True, False) else ([], "", "")
            return "aten::_scaled_dot_product_efficient_attention", [q, k, v, mask, self.scalar("False"), self.scalar("0."), flag, self.scalar("")]
        q, k, v, _ = self.heads(False)
        lengths = ([3], "int", "") if self.random.random() < 0.2 else ([], "", "")
        return "aten::_flash_attention_forward", [q, k, v, lengths, lengths, self.scalar("5"), self.scalar("5"), self.scalar("0."), flag, self.scalar("False"),
                                                  self.scalar("0.25")] + [([], "", "")] * 4

    def attention_backward(self):
        q, k, v, out = self.heads(True)
        return "aten::_scaled_dot_product_flash_attention_backward", [out, q, k, v, out, (q[0][:3], "float", ""), ([], "", ""), ([], "", ""), self.scalar("5"),
                                                                      self.scalar("5"), self.scalar("0."), self.scalar(self.pick("True", "False")),
                                                                      ([], "", ""), ([], "", ""), self.scalar("0.25")]

    def elements(self):
        shape = self.sizes(1, 3)
        other = [self.pick(1, d) for d in shape][self.random.randint(0, len(shape)):]
        kind, second = self.pick(*TYPES, *NUMBERS), self.pick(*TYPES, *NUMBERS)
        number = self.pick(([], "double", ""), ([], "long int", ""), self.scalar("2"), self.scalar("0.5"))
        either = (other, second, "") if other and self.pick(True, False) else number
        which = self.pick("unary", "unary", "binary", "binary", "binary", "add", "three", "where", "fill", "out")
        if which == "unary":
            return "aten::" + self.pick("relu", "exp", "neg", "silu", "rsqrt", "cos", "logical_not", "bitwise_not", "sigmoid_", "abs"), [(shape, kind, "")]
        if which == "binary":
            return "aten::" + self.pick("mul", "div", "pow", "eq", "maximum", "mul_", "lt"), [(shape, kind, ""), either]
        if which == "add":
            return "aten::" + self.pick("add", "sub", "add_", "rsub"), [(shape, kind, ""), either, self.scalar("1")]
        if which == "three":
            return "aten::" + self.pick("addcmul", "lerp"), [(shape, kind, ""), (shape, kind, ""), (shape, kind, ""), self.scalar("1")]
        if which == "where":
            return "aten::where", [(shape, "bool", ""), (shape, kind, ""), either]
        if which == "fill":
            return "aten::masked_fill_", [(shape, kind, ""), (shape, "bool", ""), number]
        return "aten::mul", [(shape, kind, ""), (shape, kind, ""), (shape, second, "")]

    def norm(self):
        shape, kind = self.sizes(2, 3), self.pick(*TYPES)
        weight, bias = (([shape[-1]], kind, "") if self.pick(True, False) else ([], "", "") for _ in range(2))
        return "aten::native_layer_norm", [(shape, kind, ""), self.numbers(shape[-1]), weight, bias, self.scalar("1e-05")]

    def softmax(self):
        shape = self.sizes(2, 3)
        if self.pick(True, False):
            return "aten::_softmax", [(shape, self.pick("c10::Half", "float"), ""), self.scalar("-1"), self.scalar(self.pick("True", "False"))]
        return "aten::_softmax_backward_data", [(shape, "float", ""), (shape, "float", ""), self.scalar("-1"), self.scalar(self.pick("6", "5"))]

    def engines(self):
        n, d = self.sizes(2, 2)
        kind = "c10::BFloat16"
        if self.pick(True, False):
            return "_C::fused_add_rms_norm", [([n, d], kind, ""), ([n, d], kind, ""), ([d], kind, ""), self.scalar("1e-05")]
        return "_C::silu_and_mul", [([n, d], kind, ""), ([n, 2 * d], kind, "")]

    def reduction(self):
        shape, name = self.sizes(1, 3), self.pick("sum", "mean", "amax")
        kind = self.pick(*TYPES, *(NUMBERS if name == "sum" else ()))
        gone = sorted(self.random.sample(range(-len(shape), 0), self.random.randint(0, len(shape))))
        if name == "amax":
            return "aten::amax", [(shape, kind, ""), self.numbers(*gone), self.scalar("False")]
        dtype = self.scalar("6") if self.random.random() < 0.2 else ([], "", "")
        if self.random.random() < 0.3:
            return "aten::" + name, [(shape, kind, ""), dtype]
        return "aten::" + name, [(shape, kind, ""), self.numbers(*gone), self.scalar("True"), dtype]

    def move(self):
        shape = self.sizes(1, 3)
        which = self.pick("copy_", "copy_", "fill_", "zero_")
        rest = {"copy_": [(shape, self.pick(*TYPES), ""), self.scalar("False")], "fill_": [self.scalar("0")], "zero_": []}[which]
        return "aten::" + which, [(shape, self.pick(*TYPES, *NUMBERS), "")] + rest

    def lookup(self):
        rows, width, kind = self.size(), self.size(), self.pick(*TYPES)
        if self.pick(True, False):
            return "aten::embedding", [([rows, width], kind, ""), (self.sizes(1, 2), "long int", ""), self.scalar("-1"), self.scalar("False"), self.scalar("False")]
        return "aten::index_select", [([rows, width], kind, ""), self.scalar(self.pick("0", "1", "-1")), (self.sizes(1, 1), "long int", "")]

    def fused(self):
        shape = self.sizes(1, 2)
        return "triton_poi_fused_add_0", [(shape, self.pick(*TYPES), "") for _ in range(self.random.randint(1, 3))] + [self.scalar("32")]
