"""What tpa roofline must say of a Kineto trace: slow, simple, apart from tpa.

    roofline = reference_roofline.Roofline(reference_tables.Tables(document))
    roofline.rows()          [{"name": "aten::mm", "shapes": ..., "types": ..., "count": 2, "flops": ..., "bytes": ..., "time_ns": ...}, ...]
    roofline.cost(name, args)   operations and bytes of a call with these arguments: (flops, bytes), either None; None: not modelled

Written from docs/definitions.md: a function for each row of its table of operators.
"""

import json
import math
import re

PYTHON_TYPES = {  # bytes, sort, number of c10::ScalarType
    "bool": (1, "bool", 11), "unsigned char": (1, "int", 0), "signed char": (1, "int", 1), "short int": (2, "int", 2), "int": (4, "int", 3),
    "long int": (8, "int", 4), "c10::Half": (2, "float", 5), "c10::BFloat16": (2, "float", 15), "float": (4, "float", 6), "double": (8, "float", 7),
    "c10::complex<float>": (8, "complex", 9), "c10::Float8_e4m3fn": (1, "float", 24), "c10::Float8_e5m2": (1, "float", 23)}
NUMBERED = {number: name for name, (_, _, number) in PYTHON_TYPES.items()}
SORTS = ["bool", "int", "float", "complex"]
MOST = 2**63 - 1


class Input:
    def __init__(self, dims, type_name, strides, concrete):
        self.sized = isinstance(dims, list) and len(dims) > 0 and all(isinstance(d, int) for d in dims)
        self.dims = dims if self.sized else []
        self.type = type_name if type_name in PYTHON_TYPES else None
        self.type_name, self.text = type_name, concrete
        self.elements = math.prod(self.dims) if self.sized else 0
        held = [1 if stride == 0 and d > 0 else d for d, stride in zip(self.dims, strides)] if len(strides) == len(self.dims) else self.dims
        self.held = math.prod(held) if self.sized else 0

    @property
    def size(self):
        return PYTHON_TYPES[self.type][0]

    def read(self):
        """Bytes; None where the type is not told."""
        return 0 if not self.sized else None if self.type is None else self.held * self.size

    def written(self, type_name=None):
        type_name = type_name or self.type
        return None if type_name is None else self.elements * PYTHON_TYPES[type_name][0]

    def numbers(self):
        """The whole numbers of its value, "[2, 2]"; None where it is no list."""
        return json.loads(self.text) if re.fullmatch(r"\[(-?\d+(, ?-?\d+)*)?\]", self.text) else None

    def number(self):
        return int(self.text) if re.fullmatch(r"-?\d+", self.text) else None

    def words(self):
        return [word == "True" for word in re.findall(r"True|False", self.text)]


def inputs_of(args):
    dims = args.get("Input Dims") or args.get("Input dims") or []
    at = lambda key, i, missing: (args.get(key) or [])[i] if i < len(args.get(key) or []) else missing
    return [Input(d, at("Input type", i, ""), at("Input Strides", i, []), at("Concrete Inputs", i, "")) for i, d in enumerate(dims)]


def total(*parts):
    return None if any(part is None for part in parts) else sum(parts)


def sized(inputs, *places):
    return all(i < len(inputs) and inputs[i].sized for i in places)


def value(inputs, i):
    return inputs[i].text if i < len(inputs) else ""


# ---- products


def product(first, batched):
    def cost(inputs, own):
        if not sized(inputs, first, first + 1):
            return None
        a, b = inputs[first], inputs[first + 1]
        if len(a.dims) != 2 + batched or len(b.dims) != 2 + batched or a.dims[-1] != b.dims[-2] or batched and a.dims[0] != b.dims[0]:
            return None
        outputs = a.elements // a.dims[-1] * b.dims[-1] if a.dims[-1] else math.prod(a.dims[:-1]) * b.dims[-1]
        read = a.held + b.held
        if first and inputs[0].sized and not (value(inputs, 3) and float(value(inputs, 3)) == 0):
            read += inputs[0].held
        return 2 * outputs * a.dims[-1], None if a.type is None else (read + outputs) * a.size
    return cost


def scaled(inputs, own):
    plain = product(0, False)(inputs[:2], 2)
    if plain is None:
        return None
    a, b = inputs[:2]
    outputs = a.dims[0] * b.dims[1]
    number = inputs[6].number() if len(inputs) > 6 else None
    out = NUMBERED.get(number, a.type)
    return plain[0], total(a.read(), a.type and b.held * a.size, *(i.read() for i in inputs[2:8]), out and outputs * PYTHON_TYPES[out][0])


# ---- convolutions


def convolution(stride, padding, dilation, transposed, groups):
    def cost(inputs, own):
        if not sized(inputs, 0, 1) or len(inputs[0].dims) != len(inputs[1].dims) or len(inputs[0].dims) < 3:
            return None
        x, w = inputs[:2]
        flipped = transposed is not None and inputs[transposed].words() == [True]
        each = {}
        for what, place in (("stride", stride), ("padding", padding), ("dilation", dilation)):
            numbers = inputs[place].numbers()
            each[what] = numbers * (len(x.dims) - 2) if numbers and len(numbers) == 1 else numbers
        more = inputs[7].numbers() if flipped else None
        space = []
        for d, (size, kernel) in enumerate(zip(x.dims[2:], w.dims[2:])):
            reach, s, p = each["dilation"][d] * (kernel - 1), each["stride"][d], each["padding"][d]
            space.append((size - 1) * s - 2 * p + reach + (more * 9)[d] + 1 if flipped else (size + 2 * p - reach - 1) // s + 1)
        channels = w.dims[1] * inputs[groups].number() if flipped else w.dims[0]
        outputs = x.dims[0] * channels * math.prod(space)
        bytes_written = None if x.type is None else outputs * x.size
        return 2 * x.dims[0] * w.elements * math.prod(x.dims[2:] if flipped else space), total(*(i.read() for i in inputs[:own]), bytes_written)
    return cost


def convolution_backward(inputs, own):
    gradient, x, w = inputs[:3]
    mask, flipped = inputs[10].words(), inputs[7].words() == [True]
    once = 2 * x.dims[0] * w.elements * math.prod((x if flipped else gradient).dims[2:])
    parts = [gradient.read()]
    parts += [w.read(), x.written()] if mask[0] else []
    parts += [x.read(), w.written()] if mask[1] else []
    parts += [w.type and gradient.dims[1] * w.size] if mask[2] else []
    return once * (mask[0] + mask[1]), total(*parts)


# ---- attention


def attention(query, causal, heads_first, backward=False, lengths=None):
    def cost(inputs, own):
        if not sized(inputs, query, query + 1, query + 2) or len(inputs[query].dims) != 4 or lengths is not None and inputs[lengths].sized:
            return None
        q, k, v = inputs[query:query + 3]
        heads, tokens = (1, 2) if heads_first else (2, 1)
        batch, h, n, m, width, value_width = q.dims[0], q.dims[heads], q.dims[tokens], k.dims[tokens], q.dims[3], v.dims[3]
        pairs = sum(min(i + 1, m) for i in range(n)) if inputs[causal].words() == [True] else n * m
        read = total(*(i.read() for i in inputs[:own]))
        if backward:
            return 2 * batch * h * pairs * (3 * width + 2 * value_width), total(read, q.written(), k.written(), v.written())
        return 2 * batch * h * pairs * (width + value_width), total(read, q.type and batch * h * n * value_width * q.size)
    return cost


# ---- element by element


def broadcast(shapes):
    out = []
    for shape in shapes:
        a, b = [1] * (len(shape) - len(out)) + out, [1] * (len(out) - len(shape)) + list(shape)
        if any(x != y and x != 1 and y != 1 for x, y in zip(a, b)):
            return None
        out = [y if x == 1 else x for x, y in zip(a, b)]
    return out


def promoted(names):
    """c10::promoteTypes, of what tests draw."""
    best = None
    for name in names:
        if best is None or name == best:
            best = name
            continue
        a, b = sorted((best, name), key=lambda n: (SORTS.index(PYTHON_TYPES[n][1]), PYTHON_TYPES[n][0]))
        same = PYTHON_TYPES[a][:2] == PYTHON_TYPES[b][:2]
        best = {"float": "float", "int": "short int" if PYTHON_TYPES[a][0] == 1 else b}.get(PYTHON_TYPES[a][1]) if same else b
    return best


FLOATS_COME_OUT = {"exp", "log", "cos", "sin", "sqrt", "rsqrt", "reciprocal", "sigmoid", "tanh"}
COMPARES = {"eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_not", "logical_or", "isnan"}
ELEMENTS = {"abs": 1, "add": 3, "addcmul": 4, "bitwise_not": 1, "clamp": 3, "clamp_min": 2, "cos": 1, "div": 2, "eq": 2, "exp": 1, "ge": 2, "gelu": 2, "gt": 2,
            "isnan": 1, "le": 2, "lerp": 3, "log": 1, "logical_not": 1, "logical_or": 2, "logical_and": 2, "lt": 2, "masked_fill": 3, "maximum": 2, "mul": 2, "ne": 2, "neg": 1, "pow": 2, "relu": 1, "rsqrt": 1, "rsub": 3,
            "sigmoid": 1, "silu": 1, "sin": 1, "sqrt": 1, "sub": 3, "tanh": 1, "threshold_backward": 3, "where": 3}


def element_by_element(name):
    bare = name.removeprefix("aten::")
    in_place = bare not in ELEMENTS and bare.endswith("_")
    bare = bare.removesuffix("_") if in_place else bare
    if not name.startswith("aten::") or bare not in ELEMENTS:
        return None

    def cost(inputs, _):
        own = inputs[:ELEMENTS[bare]]
        tensors = [i for i in own if i.sized]
        shape = broadcast([i.dims for i in tensors]) if tensors else None
        if shape is None:
            return None
        elements = math.prod(shape)
        chosen = [i for i in tensors if not (bare == "where" and i is inputs[0])]
        known = all(i.type for i in tensors)
        out = promoted([i.type for i in chosen if i.type]) if known else None
        behind = [i for i in inputs[ELEMENTS[bare]:] if i.sized]
        if known and in_place:
            out = inputs[0].type
        elif known and bare in COMPARES:
            out = "bool"
        elif known and SORTS.index(PYTHON_TYPES[out][1]) < 2:
            numbers = [i for i in own if not i.sized]
            is_float = any(i.type and PYTHON_TYPES[i.type][1] == "float" or not i.type and re.fullmatch(r"-?\d+\.\d*(e-?\d+)?", i.text) for i in numbers)
            if bare in FLOATS_COME_OUT or bare == "div" or is_float:
                out = "float"
            elif out == "bool" and any(i.type and PYTHON_TYPES[i.type][1] == "int" for i in numbers):
                out = "long int"
        if behind and behind[0].type:
            out = behind[0].type
        each = 3 if bare in ("addcmul", "lerp") else 1
        return each * elements, total(*(i.read() for i in tensors), out and elements * PYTHON_TYPES[out][0])
    return cost


# ---- passes


def layer_norm(inputs, own):
    x = inputs[0]
    return x.elements * (5 + sized(inputs, 2) + sized(inputs, 3)), total(*(i.read() for i in inputs[:own]), x.written())


def softmax(inputs, own):
    x = inputs[0]
    return 5 * x.elements, total(x.read(), x.written("float" if value(inputs, 2) == "True" else None))


def softmax_backward(inputs, own):
    x = inputs[0]
    if not sized(inputs, 0, 1):
        return None
    return 4 * x.elements, total(x.read(), inputs[1].read(), x.written(NUMBERED.get(inputs[3].number() if len(inputs) > 3 else None, x.type)))


def given(in_place, each):
    def cost(inputs, own):
        return each * inputs[0].elements, total(*(i.read() for i in inputs), *(i.read() for i in inputs[:in_place]))
    return cost


def reduction(kind):
    def cost(inputs, own):
        x = inputs[0]
        if not x.sized:
            return None
        part = len(inputs) > 2
        dims = inputs[1].numbers() or [] if part else []
        kept = [d for i, d in enumerate(x.dims) if i not in [g % len(x.dims) for g in dims]] if dims else []
        out = x.type
        if kind == "sum" and out and SORTS.index(PYTHON_TYPES[out][1]) < 2:
            out = "long int"
        if kind != "amax":
            place = 3 if part else 1
            out = NUMBERED.get(inputs[place].number() if place < len(inputs) else None, out)
        return x.elements, total(x.read(), out and math.prod(kept) * PYTHON_TYPES[out][0])
    return cost


def copy(inputs, own):
    return (0, total(inputs[0].written(), inputs[1].read() if len(inputs) > 1 else 0)) if inputs[0].sized else None


def fill(inputs, own):
    return (0, inputs[0].written()) if inputs[0].sized else None


def embedding(inputs, own):
    if not sized(inputs, 0, 1):
        return None
    w, index = inputs[:2]
    return 0, total(w.type and 2 * index.elements * math.prod(w.dims[1:]) * w.size, index.read())


def index_select(inputs, own):
    if not sized(inputs, 0, 2):
        return None
    x, along, index = inputs[:3]
    rest = math.prod(x.dims) // x.dims[along.number()] if x.dims[along.number()] else math.prod(d for i, d in enumerate(x.dims) if i != along.number() % len(x.dims))
    return 0, total(x.type and 2 * rest * index.elements * x.size, index.read())


def fused(inputs, own):
    return None, total(*(i.read() for i in inputs)) or None


MODELS = {  # how many inputs are its own, and its cost
    "aten::mm": (2, product(0, False)), "aten::bmm": (2, product(0, True)), "aten::addmm": (5, product(1, False)), "aten::baddbmm": (5, product(1, True)),
    "aten::_scaled_mm": (8, scaled), "aten::convolution": (9, convolution(3, 4, 5, 6, 8)), "aten::cudnn_convolution": (9, convolution(3, 2, 4, None, 5)),
    "aten::convolution_backward": (11, convolution_backward),
    "aten::_scaled_dot_product_flash_attention": (7, attention(0, 4, True)), "aten::_scaled_dot_product_efficient_attention": (8, attention(0, 6, True)),
    "aten::_flash_attention_forward": (15, attention(0, 8, False, lengths=3)),
    "aten::_scaled_dot_product_flash_attention_backward": (15, attention(1, 11, True, backward=True)),
    "aten::native_layer_norm": (5, layer_norm), "aten::_softmax": (3, softmax), "aten::_softmax_backward_data": (4, softmax_backward),
    "_C::fused_add_rms_norm": (8, given(2, 5)), "_C::silu_and_mul": (8, given(0, 3)), "aten::sum": (4, reduction("sum")), "aten::mean": (4, reduction("mean")),
    "aten::amax": (3, reduction("amax")), "aten::copy_": (2, copy), "aten::fill_": (2, fill), "aten::zero_": (1, fill), "aten::embedding": (5, embedding),
    "aten::index_select": (3, index_select), "triton_poi_fused_0": (64, fused), "triton_poi_fused_add_0": (64, fused)}


def cost(name, args):
    own, model = MODELS.get(name) or (64, element_by_element(name))
    inputs = inputs_of(args)
    if model is None or not inputs:
        return None
    try:
        found = model(inputs, own)
    except (IndexError, TypeError, ValueError, ZeroDivisionError, AttributeError):  # arguments that are not the operator's
        return None
    if found is None or not any(part for part in found if part is not None):
        return None
    return tuple(part if part is None or part <= MOST else None for part in found)


# ---- a trace


def nested(operators):
    """The operator around each, by its id: of one thread, open calls end before those that begin behind them or outlast them."""
    around, stacks = {}, {}
    for e in sorted(operators, key=lambda e: (e.start, -(e.end - e.start))):
        stack = stacks.setdefault(e.thread, [])
        while stack and (e.start >= stack[-1].end or e.end > stack[-1].end):
            stack.pop()
        around[id(e)] = stack[-1] if stack else None
        stack.append(e)
    return around


def text_of(names):
    return json.dumps(names, separators=(", ", ": "), ensure_ascii=False)


class Roofline:
    def __init__(self, tables):
        self.tables = tables
        self.costs = {id(e): cost(e.name, e.args) for e in tables.operators}
        self.around = nested(tables.operators)
        self.works = {}
        for e in tables.work:
            call = self.modelled(tables.operator_of.get(e.link))
            self.works.setdefault(id(call) if call else None, []).append(e)

    def modelled(self, operator):
        while operator is not None and self.costs[id(operator)] is None:
            operator = self.around[id(operator)]
        return operator

    def time(self, call):
        if self.tables.work:
            return sum(e.duration for e in self.works.get(id(call), ()))
        inside = [e for e in self.tables.operators if self.costs[id(e)] and e is not call and self.around[id(e)] and self.modelled(self.around[id(e)]) is call]
        return call.end - call.start - sum(e.end - e.start for e in inside)

    def rows(self, by_shape=True):
        rows = {}
        for e in self.tables.operators:
            found = self.costs[id(e)]
            if found is None:
                continue
            dims = e.args.get("Input Dims") or e.args.get("Input dims")
            shapes = text_of([d if all(isinstance(n, int) for n in d) else [] for d in dims])
            types = text_of(e.args["Input type"]) if "Input type" in e.args else None
            key = (e.name, shapes, types) if by_shape else (e.name,)
            row = rows.setdefault(key, {**dict(zip(("name", "shapes", "types"), key)), "count": 0, "flops": 0, "bytes": 0, "time_ns": 0, "launching": 0})
            row["count"] += 1
            row["flops"], row["bytes"] = total(row["flops"], found[0]), total(row["bytes"], found[1])
            row["time_ns"] += self.time(e)
            row["launching"] += bool(self.works.get(id(e)))
        return list(rows.values())

    def totals(self):
        return [{"device": device, "device_time_ns": sum(e.duration for e in work),
                 "modelled_time_ns": sum(e.duration for e in work if self.modelled(self.tables.operator_of.get(e.link)))} for device, work in self.tables.by_device()]

    def rest(self):
        rows = {}
        for e in self.works.get(None, ()):
            operator, call = self.tables.operator_of.get(e.link), self.tables.call(e)
            name = (operator or call or e).name
            row = rows.setdefault(name, {"name": name, "works": 0, "time_ns": 0})
            row["works"] += 1
            row["time_ns"] += e.duration
        return list(rows.values())
