"""An unpickler that runs nothing: of the instructions of pickles it knows those that PyTorch's files are made of, and
it calls a short list of functions, none of which can do more than make a tensor or a container.

A name that is not in the list is not looked up, so that nothing is imported. What a call may make is limited by the
length of the pickle, so that a short file cannot fill the memory, and keys are looked at before they are hashed,
because tuples of tuples of tuples can take forever.
"""

from __future__ import annotations

import pickle
import pickletools
import struct
from _compat_pickle import IMPORT_MAPPING, NAME_MAPPING
from collections import Counter, OrderedDict
from collections.abc import Callable
from pickle import UnpicklingError
from typing import Any

from leafgrad import _dtypes
from leafgrad._device import Size
from leafgrad._files import rebuilding
from leafgrad._files.pickling import place_in_torch
from leafgrad._tensor.tensor import Tensor
from leafgrad.nn.parameter import Parameter
from leafgrad.ops.shape.storage import StorageType, TypedStorage, UntypedStorage

BLOCKED = ("sys", "os", "posix", "nt")  # modules of which nothing can be allowed
MAPPINGS = (dict, OrderedDict, Counter)

allowed_by_user: set[Any] = set()


def names_allowed_by_user() -> dict[str, Any]:
    """What `add_safe_globals` was given, by the names that files have for it."""
    found: dict[str, Any] = {}
    for each in allowed_by_user:
        if isinstance(each, tuple):
            if len(each) != 2:
                words = "Expected tuple of length 2 (global, str of callable full path), but got tuple of length"
                raise ValueError(f"{words}: {len(each)}")
            if type(each[1]) is not str:
                raise TypeError(
                    f"Expected second item in tuple to be str of callable full path, but got: {type(each[1])}"
                )
            found[each[1]] = each[0]
        else:
            found[f"{each.__module__}.{each.__qualname__}"] = each
            if (place := place_in_torch(each)) is not None:
                found[".".join(place)] = each
    return found


def encode(text: Any, encoding: Any) -> bytes:
    """`_codecs.encode`, by which pickles of protocol 2 make bytes of a text."""
    if type(text) is not str or encoding != "latin1":
        raise UnpicklingError("_codecs.encode is there to make bytes of a text in latin1")
    return text.encode("latin1")


ALLOWED: dict[str, Any] = {
    **rebuilding.NAMES,
    "collections.OrderedDict": OrderedDict,
    "collections.Counter": Counter,
    "_codecs.encode": encode,
    "builtins.bytearray": bytearray,
    "builtins.set": set,
    "builtins.complex": complex,
}
# What may be called, by its id: not everything can be hashed. The rest of the list are dtypes and classes to be named.
CALLABLE = {id(value) for value in ALLOWED.values() if not isinstance(value, _dtypes.dtype | StorageType)}
CALLABLE -= {id(value) for value in (Tensor, Parameter, UntypedStorage, TypedStorage)}


class RestrictedUnpickler:
    """Reads the pickle that begins at `position`. `find_storage` gets what stands for a storage, and returns it; texts
    of Python 2 are read in `encoding`, unless that is "bytes"."""

    def __init__(
        self,
        data: bytes,
        find_storage: Callable[[tuple[Any, ...]], Any],
        position: int = 0,
        encoding: str = "utf-8",
    ) -> None:
        self.data = data
        self.position = position
        self.encoding = encoding
        self.stack: list[Any] = []
        self.below: list[list[Any]] = []  # the stacks that marks have put aside
        self.memo: dict[int, Any] = {}
        self.budget = 8 * len(data) + 1000  # elements and bytes that calls may make in all
        self.find_storage = find_storage
        self.user = names_allowed_by_user()
        self.user_ids = {id(value) for value in self.user.values()}
        self.in_user_code = False  # whose errors are the user's

    def load(self) -> Any:
        """The object; an UnpicklingError if there is anything wrong with it."""
        while True:
            code = self.take(1)[0]
            if code == pickle.STOP[0]:
                return self.pop()
            instruction = INSTRUCTIONS.get(code)
            if instruction is None:
                raise UnpicklingError(f"Unsupported operand {code}")
            try:
                instruction(self)
            except (TypeError, ValueError, AttributeError, LookupError, OverflowError) as error:
                if self.in_user_code:
                    raise
                raise UnpicklingError(f"the pickle is damaged: {error}") from error

    # -- reading and the stack

    def take(self, count: int) -> bytes:
        end = self.position + count
        if end > len(self.data):
            raise UnpicklingError("pickle data was truncated")
        part = self.data[self.position : end]
        self.position = end
        return part

    def number(self, form: str) -> Any:
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def line(self) -> str:
        end = self.data.find(b"\n", self.position)
        if end < 0:
            raise UnpicklingError("pickle data was truncated")
        return self.take(end + 1 - self.position)[:-1].decode("utf-8", "replace")

    def pop(self) -> Any:
        if not self.stack:
            raise UnpicklingError("the pickle takes something from an empty stack")
        return self.stack.pop()

    def top(self) -> Any:
        if not self.stack:
            raise UnpicklingError("the pickle looks at an empty stack")
        return self.stack[-1]

    def push(self, value: Any) -> None:
        self.stack.append(value)

    def mark(self) -> None:
        self.below.append(self.stack)
        self.stack = []

    def since_mark(self) -> list[Any]:
        if not self.below:
            raise UnpicklingError("the pickle refers to a mark that is not there")
        items, self.stack = self.stack, self.below.pop()
        return items

    def tuple_of(self, count: int) -> None:
        self.push(tuple([self.pop() for _ in range(count)][::-1]))

    def spend(self, amount: int) -> None:
        self.budget -= amount
        if self.budget < 0:
            raise UnpicklingError("the pickle makes more than its length can be meant for")

    def key(self, value: Any) -> Any:
        """A key of a dictionary, or an element of a set, if it can be hashed in reasonable time."""
        waiting, seen = [value], 0
        while waiting:
            each = waiting.pop()
            seen += 1
            if isinstance(each, tuple):
                waiting += each
            if seen + len(waiting) > 1000:
                raise UnpicklingError("a tuple that is too large for a key")
        return value

    # -- names and calls

    def global_in_lines(self) -> None:
        self.named(*name_of_python3(self.line(), self.line()))

    def global_on_stack(self) -> None:
        name, module = self.pop(), self.pop()
        if type(name) is not str or type(module) is not str:
            raise UnpicklingError("a name that is no text")
        self.named(module, name)

    def named(self, module: str, name: str) -> None:
        path = f"{module}.{name}"
        if module in BLOCKED:
            raise UnpicklingError(f"Trying to load unsupported GLOBAL {path} whose module {module} is blocked.")
        if path in ALLOWED:
            self.push(ALLOWED[path])
        elif path in self.user:
            self.push(self.user[path])
        else:
            path = path.removeprefix("builtins.")
            raise UnpicklingError(
                f"Unsupported global: GLOBAL {path} was not an allowed global by default. Please use "
                f"`torch.serialization.add_safe_globals([{path}])` or the `torch.serialization.safe_globals([{path}])` "
                "context manager to allowlist this global if you trust this class/function."
            )

    def new_object(self) -> None:
        args, cls = self.pop(), self.pop()
        if id(cls) not in self.user_ids or type(args) is not tuple:
            raise UnpicklingError(
                "Can only create new object for nn.Parameter or classes allowlisted via `add_safe_globals` but got "
                f"{rebuilding.shown(cls)}"
            )
        self.push(self.of_user(cls.__new__, cls, *args))

    def call(self) -> None:
        args, function = self.pop(), self.pop()
        if id(function) not in CALLABLE and id(function) not in self.user_ids:
            raise UnpicklingError(f"Trying to call reduce for unrecognized function {rebuilding.shown(function)}")
        if type(args) is not tuple:
            raise UnpicklingError(f"the arguments of a call must be a tuple, and are {type(args)}")
        if id(function) in self.user_ids:
            self.push(self.of_user(function, *args))
            return
        if id(function) in CHECKED:
            args = CHECKED[id(function)](self, *args)
        self.push(function(*args))

    def of_user(self, function: Any, *args: Any) -> Any:
        """Call what is not leafgrad's: an error in it is reported as it is."""
        self.in_user_code = True
        result = function(*args)
        self.in_user_code = False
        return result

    def checked_container(self, *content: Any) -> tuple[Any, ...]:
        """The elements of a set, the items of a dictionary: lists, of few enough elements, all with proper keys."""
        for each in content:
            if type(each) not in (list, *MAPPINGS):
                raise UnpicklingError(f"a container is made of a list or a dictionary, not of {type(each)}")
            self.spend(len(each))
            for item in each:
                self.key(tuple(item) if type(item) is list else item)
        return content

    def checked_bytes(self, *content: Any) -> tuple[Any, ...]:
        if content and type(content[0]) not in (str, bytes):
            raise UnpicklingError(f"bytes are made of bytes or a text, not of {type(content[0])}")
        self.spend(len(content[0]) if content else 0)
        return content

    def checked_numbers(self, *content: Any) -> tuple[Any, ...]:
        if not all([type(each) in (int, float) for each in content]):
            raise UnpicklingError("a complex number is made of numbers")
        return content

    def checked_size(self, *content: Any) -> tuple[Any, ...]:
        for each in content:
            if type(each) is not tuple or not all([type(n) is int for n in each]):
                raise UnpicklingError("a Size is made of a tuple of integers")
            self.spend(len(each))
        return content

    # -- contents of objects

    def build(self) -> None:
        state, made = self.pop(), self.top()
        if type(made) is OrderedDict:
            if type(state) is not dict:
                raise UnpicklingError(f"the attributes of an OrderedDict must be a dictionary, and are {type(state)}")
            vars(made).update(state)
        elif id(type(made)) in self.user_ids:
            self.of_user(set_state, made, state)
        else:
            raise UnpicklingError(
                "Can only build Tensor, Parameter, OrderedDict or types allowlisted via `add_safe_globals`, but got "
                f"{type(made)}"
            )

    def extend(self, items: list[Any], verb: str) -> None:
        target = self.top()
        if type(target) is not list:
            raise UnpicklingError(f"Can only {verb} lists, but got {type(target)}")
        target.extend(items)

    def set_items(self, items: list[Any], instruction: str) -> None:
        target = self.top()
        if type(target) not in MAPPINGS:
            raise UnpicklingError(
                f"Can only {instruction} for dict, collections.OrderedDict, collections.Counter, but got {type(target)}"
            )
        if len(items) % 2:
            raise UnpicklingError("a key without a value")
        for name, value in zip(items[::2], items[1::2]):
            target[self.key(name)] = value

    def add_items(self) -> None:
        items, target = self.since_mark(), self.top()
        if type(target) is not set:
            raise UnpicklingError(f"Can only add items to sets, but got {type(target)}")
        target.update([self.key(each) for each in items])

    def storage(self) -> None:
        entry = self.pop()
        if type(entry) is not tuple:
            raise UnpicklingError(f"persistent_load id must be tuple or int, but got {type(entry)}")
        if not entry or entry[0] not in ("storage", b"storage"):
            raise UnpicklingError(f"Only persistent_load of storage is allowed, but got {rebuilding.shown(entry[:1])}")
        self.push(self.of_user(self.find_storage, entry))  # which may ask the user's map_location

    def short_text(self) -> None:
        self.push(str(self.take(self.number("<B")), "utf-8", "surrogatepass"))

    def text_of_python2(self) -> None:
        content = self.take(self.number("<B"))
        self.push(content if self.encoding == "bytes" else content.decode(self.encoding, "strict"))

    def text(self) -> None:
        self.push(str(self.take(self.number("<I")), "utf-8", "surrogatepass"))

    def get(self, form: str) -> None:
        index = self.number(form)
        if index not in self.memo:
            raise UnpicklingError(f"the pickle refers to object {index}, which is not there")
        self.push(self.memo[index])

    def put(self, form: str) -> None:
        self.memo[self.number(form)] = self.top()

    def memoize(self) -> None:
        self.memo[len(self.memo)] = self.top()


def name_of_python3(module: str, name: str) -> tuple[str, str]:
    """Where Python 3 has what a pickle of protocol 2 names as Python 2 did."""
    if (module, name) in NAME_MAPPING:
        module, name = NAME_MAPPING[module, name]
    return IMPORT_MAPPING.get(module, module), name


def names_in(data: bytes) -> set[str]:
    """All names that a pickle says it will look up, without looking at one; those that it puts together while it runs
    are not among them."""
    found: set[str] = set()
    texts: list[str] = []  # of protocol 4, which has names on the stack
    try:
        for instruction, argument, _ in pickletools.genops(data):
            if instruction.name == "GLOBAL" and argument is not None:
                found.add(".".join(name_of_python3(*argument.split(" ", 1))))
            elif instruction.name == "STACK_GLOBAL" and len(texts) >= 2:
                found.add(".".join(texts[-2:]))
            elif isinstance(argument, str):
                texts.append(argument)
    except (ValueError, IndexError) as error:
        raise UnpicklingError(f"the pickle is damaged: {error}") from error
    return found


def set_state(made: Any, state: Any) -> None:
    """Give an object of a class that the user allows its attributes, as pickle does."""
    if hasattr(made, "__setstate__"):
        made.__setstate__(state)
        return
    attributes, slots = state if isinstance(state, tuple) and len(state) == 2 else (state, None)
    if attributes:
        vars(made).update(attributes)
    for name, value in (slots or {}).items():
        setattr(made, name, value)


CHECKED: dict[int, Callable[..., tuple[Any, ...]]] = {
    id(OrderedDict): RestrictedUnpickler.checked_container,
    id(Counter): RestrictedUnpickler.checked_container,
    id(set): RestrictedUnpickler.checked_container,
    id(encode): lambda self, text, encoding: (*self.checked_bytes(text), encoding),
    id(bytearray): RestrictedUnpickler.checked_bytes,
    id(complex): RestrictedUnpickler.checked_numbers,
    id(Size): RestrictedUnpickler.checked_size,
}

Machine = RestrictedUnpickler
INSTRUCTIONS: dict[int, Callable[[RestrictedUnpickler], None]] = {
    name[0]: does
    for name, does in {
        pickle.PROTO: lambda m: m.number("<B"),
        pickle.GLOBAL: Machine.global_in_lines,
        pickle.NEWOBJ: Machine.new_object,
        pickle.REDUCE: Machine.call,
        pickle.BUILD: Machine.build,
        pickle.BINPERSID: Machine.storage,
        pickle.MARK: Machine.mark,
        pickle.APPEND: lambda m: m.extend([m.pop()], "append to"),
        pickle.APPENDS: lambda m: m.extend(m.since_mark(), "extend"),
        pickle.SETITEM: lambda m: m.set_items([m.pop(), m.pop()][::-1], "SETITEM"),
        pickle.SETITEMS: lambda m: m.set_items(m.since_mark(), "SETITEMS"),
        pickle.TUPLE: lambda m: m.push(tuple(m.since_mark())),
        pickle.TUPLE1: lambda m: m.tuple_of(1),
        pickle.TUPLE2: lambda m: m.tuple_of(2),
        pickle.TUPLE3: lambda m: m.tuple_of(3),
        pickle.EMPTY_TUPLE: lambda m: m.push(()),
        pickle.EMPTY_LIST: lambda m: m.push([]),
        pickle.EMPTY_DICT: lambda m: m.push({}),
        pickle.EMPTY_SET: lambda m: m.push(set()),
        pickle.NONE: lambda m: m.push(None),
        pickle.NEWFALSE: lambda m: m.push(False),
        pickle.NEWTRUE: lambda m: m.push(True),
        pickle.BININT: lambda m: m.push(m.number("<i")),
        pickle.BININT1: lambda m: m.push(m.number("<B")),
        pickle.BININT2: lambda m: m.push(m.number("<H")),
        pickle.BINFLOAT: lambda m: m.push(m.number(">d")),
        pickle.LONG1: lambda m: m.push(pickle.decode_long(m.take(m.number("<B")))),
        pickle.BINUNICODE: Machine.text,
        pickle.SHORT_BINSTRING: Machine.text_of_python2,
        pickle.BINGET: lambda m: m.get("<B"),
        pickle.LONG_BINGET: lambda m: m.get("<I"),
        pickle.BINPUT: lambda m: m.put("<B"),
        pickle.LONG_BINPUT: lambda m: m.put("<I"),
        # of later protocols, which PyTorch's files do not have unless they are asked to
        pickle.FRAME: lambda m: m.number("<Q"),
        pickle.MEMOIZE: Machine.memoize,
        pickle.STACK_GLOBAL: Machine.global_on_stack,
        pickle.SHORT_BINUNICODE: Machine.short_text,
        pickle.SHORT_BINBYTES: lambda m: m.push(m.take(m.number("<B"))),
        pickle.BINBYTES: lambda m: m.push(m.take(m.number("<I"))),
        pickle.ADDITEMS: Machine.add_items,
    }.items()
}
