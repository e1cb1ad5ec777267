"""The C that calls every function of the header, with arguments of any content."""

from __future__ import annotations

from kmcompile.evidence.run_time_errors.header import Header
from kmcompile.text.c_functions import Function, Parameter

_LARGEST = "0x1.fffffep+127f"

_DEPTH = 4
_MODEL, _OPENED, _CLOSED = "model", "opened", "closed"


class Driver:
    """Writes the C that calls every public function with any content.

    A pointer is NULL or points to an object whose bytes are any, where the function takes any;
    fields that have a meaning, such as those of a result that telemetry counts, have any value of
    their type. Between the calls of a job, or of telemetry, nothing but these functions changes
    it.

    Where the model is in an image, `opened` is the model of the image that was emitted, and
    `closed` is none that was opened.

    Parameters
    ----------
    header : Header
    finite : bool
        Whether the floats of an input are those that the entry accepts, instead of any bits.
    """

    def __init__(self, header: Header, finite: bool) -> None:
        self._header, self._finite = header, finite
        self._prefix, self._upper = header.prefix, header.prefix.upper()
        self._names = {one.name.removeprefix(f"{self._prefix}_"): one for one in header.functions}

    def text(self) -> str:
        """Return the C of the driver, which includes the C of the model."""
        bodies = {
            name: self._body(name, function)
            for name, function in self._names.items()
            if name not in ("step", "begin_float") or "begin" not in self._names
        }
        lines = [f'#include "{self._prefix}.c"', ""]
        if self._has_image:
            lines += [f"static {self._prefix}_model_t {one};" for one in (_OPENED, _CLOSED)]
            lines.append("")
        for name, body in bodies.items():
            lines += [f"static void call_{name}(void)", "{", *_indented(body), "}", ""]
        calls = [f"call_{name}();" for name in bodies]
        if self._has_image:
            calls = self._with_open_model(calls)
        return "\n".join([*lines, "void main(void)", "{", *_indented(calls), "}", ""])

    @property
    def _has_image(self) -> bool:
        return "open" in self._names

    def _with_open_model(self, calls: list[str]) -> list[str]:
        """Return the calls after the image has been opened."""
        image = f"{self._prefix}_image, {self._prefix}_image_bytes"
        opens = f"{self._prefix}_open({image}, &{_OPENED}) == {self._upper}_OK"
        return [f"if ({opens}) {{", *_indented(calls), "}"]

    def _body(self, name: str, function: Function) -> list[str]:
        if name == "open":
            return self._opening()
        if name == "self_test_step":
            return self._self_test_steps(function)
        if name == "tables_state":
            return self._blocks(function)
        if name == "begin":
            return self._jobs()
        if name.startswith("telemetry_") and name != "telemetry_reset":
            return self._telemetry(function)
        lines = [*self._arguments(function.parameters), _call(function)]
        return [*lines, _call(function, _CLOSED)] if _MODEL in _names(function) else lines

    def _opening(self) -> list[str]:
        image = f"{self._prefix}_image"
        return [
            "uint32_t size;",
            f"{self._prefix}_model_t model;",
            "",
            _any_bytes("size"),
            f"(void){self._prefix}_open({image}, size, &model);",
            f"(void){self._prefix}_open({image}, size, NULL);",
            f"(void){self._prefix}_open(NULL, size, &model);",
        ]

    def _arguments(self, parameters: tuple[Parameter, ...]) -> list[str]:
        parameters = tuple(one for one in parameters if one.name != _MODEL)
        lines = [
            f"{one.c_type} {one.name}{f'[{one.length}]' if one.length else ''};"
            for one in parameters
        ]
        for one in parameters:
            is_written_only = not one.is_const and (
                one.length is not None
                or one.c_type.endswith(("_result_t", "_prediction_t", "float"))
            )
            if is_written_only and (one.has_star or one.length):
                continue
            if one.length or one.is_const:
                lines += self._fill(one.c_type, one.name, one.length, _DEPTH, one.name == "x")
            else:
                lines.append(_any_bytes(one.name))
        return lines

    def _fill(
        self, type_name: str, name: str, size: str | None, depth: int, is_input: bool = False
    ) -> list[str]:
        """Give a variable any value of its type; a float is any number, or any bits."""
        if size is not None:
            element = self._fill(type_name, f"{name}[i_{depth}]", None, depth - 1, is_input)
            head = f"for (uint32_t i_{depth} = 0U; i_{depth} < {size}; ++i_{depth}) {{"
            return [head, *_indented(element), "}"]
        fields = self._header.structures.get(type_name)
        if fields is not None and not type_name.endswith("_workspace_t"):
            inner = [
                self._fill(one.c_type, f"{name}.{one.name}", one.length, depth - 1)
                for one in fields
            ]
            return [line for lines in inner for line in lines]
        if type_name == "bool":
            return [f"{name} = Frama_C_nondet(0, 1) != 0;"]
        if type_name.endswith("_status_t"):
            return [f"{name} = ({type_name})Frama_C_interval(0, {self._upper}_ERROR_CORRUPT);"]
        if self._finite and self._header.is_float(type_name):
            limit = self._header.limit if is_input and self._header.limit else _LARGEST
            return [f"{name} = Frama_C_float_interval(-{limit}, {limit});"]
        return [f"Frama_C_make_unknown((char *)&{name}, sizeof {name});"]

    def _self_test_steps(self, function: Function) -> list[str]:
        """Return the steps of every part, of known answers and of parts that do not exist."""
        upper = self._upper
        state = function.parameters[0]
        tables = f"{upper}_N_TABLES"
        if "tables_state" in self._names:
            tables = f"{upper}_N_TABLE_BLOCKS"
        answers = f"{_OPENED}.n_answers" if self._has_image else f"{upper}_N_ANSWERS"
        end = f"({tables} + {answers})"
        fill = self._fill(state.c_type, "state", None, _DEPTH)
        more = f", &{_OPENED}" if self._has_image else ""
        call = f"(void){function.name}(&state{more});"
        return [
            f"{state.c_type} state;",
            "uint32_t part;",
            "",
            f"for (part = 0U; part < {tables}; ++part) {{",
            *_indented([*fill, "state.part = part;", call]),
            "}",
            *fill,
            f"state.part = (uint32_t)Frama_C_interval((int){tables}, (int){end});",
            call,
            *fill,
            f"if (state.part > {end}) {{",
            f"    {call}",
            "}",
            f"(void){function.name}(NULL{more});",
            *([f"(void){function.name}(&state, &{_CLOSED});"] if more else []),
        ]

    def _blocks(self, function: Function) -> list[str]:
        """Return the state of every block of the tables, and of those that do not exist."""
        end = f"{self._upper}_N_TABLE_BLOCKS"
        call = f"(void){function.name}(block, Frama_C_nondet_ptr((void *)&found, NULL));"
        return [
            "uint32_t block;",
            f"{function.parameters[1].c_type} found;",
            "",
            f"for (block = 0U; block < {end}; ++block) {{",
            f"    {call}",
            "}",
            _any_bytes("block"),
            f"if (block >= {end}) {{",
            f"    {call}",
            "}",
        ]

    def _jobs(self) -> list[str]:
        """Return jobs from their beginning until they have no step left, and one step more."""
        name, lines = self._prefix, []
        result = self._names["step"].parameters[1].c_type
        job = self._names["begin"].parameters[0].c_type
        for begin in ("begin", "begin_float"):
            if begin in self._names:
                lines += ["{", *_indented(self._job(self._names[begin], job, result)), "}"]
        return [*lines, f"(void){name}_step(NULL, NULL);"]

    def _job(self, begin: Function, job: str, result: str) -> list[str]:
        name = self._prefix
        x = begin.parameters[1]
        return [
            f"{job} job;",
            f"{x.c_type} x[{x.length}];",
            f"{result} result;",
            "uint32_t n;",
            "",
            _any_bytes("job"),
            *self._fill(x.c_type, "x", x.length, _DEPTH, True),
            f"(void){begin.name}(&job, NULL);",
            f"(void){begin.name}(NULL, x);",
            f"(void){begin.name}(&job, x);",
            "/*@ dynamic_split job.place; */",
            f"for (n = 0U; n <= {self._upper}_MAX_STEPS; ++n) {{",
            f"    (void){name}_step(&job, &result);",
            "}",
            f"(void){name}_step(&job, NULL);",
        ]

    def _telemetry(self, function: Function) -> list[str]:
        lines = self._arguments(function.parameters)
        first = function.parameters[0]
        return [*lines, *self._fill(first.c_type, first.name, None, _DEPTH), _call(function)]


def _names(function: Function) -> tuple[str, ...]:
    return tuple(one.name for one in function.parameters)


def _call(function: Function, model: str = _OPENED) -> str:
    given = (_argument(one, model) for one in function.parameters)
    return f"(void){function.name}({', '.join(given)});"


def _argument(parameter: Parameter, model: str) -> str:
    if parameter.name == _MODEL:
        return f"Frama_C_nondet_ptr((void *)&{model}, NULL)"
    if parameter.length:
        return f"Frama_C_nondet_ptr((void *){parameter.name}, NULL)"
    if parameter.has_star:
        return f"Frama_C_nondet_ptr((void *)&{parameter.name}, NULL)"
    return parameter.name


def _any_bytes(name: str) -> str:
    return f"Frama_C_make_unknown((char *)&{name}, sizeof {name});"


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" if line else "" for line in lines]
