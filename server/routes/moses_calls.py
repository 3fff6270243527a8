"""XML-RPC, as Moses' clients speak it: calls and answers as XML, without what makes XML dangerous."""

import re
from typing import Any
from xml.parsers import expat
from xmlrpc.client import MAXINT, MININT, Fault, Unmarshaller, dumps

# xmlrpc-c's codes, which mosesserver has.
TYPE_ERROR, PARSE_ERROR, NO_SUCH_METHOD, REFUSED, TOO_MUCH = -501, -503, -506, -507, -509
NOT_IN_XML = re.compile("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\ufffe\uffff]")
TRUE = ("true", "True", "TRUE", "1")  # strings that mosesserver takes for true


def read_call(body: bytes) -> tuple[str, list[Any]]:
    """The method that is called, and its parameters. Raises Fault where the body is no call, or declares entities."""
    target, parser = Unmarshaller(), expat.ParserCreate()

    def refuse(*declaration: object) -> None:
        raise Fault(PARSE_ERROR, "the call has a document type declaration; leave it out")

    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler, parser.EndElementHandler = target.start, target.end
    parser.CharacterDataHandler = target.data
    target.xml(None, None)  # type: ignore[arg-type]  # None: text is decoded already
    try:
        parser.Parse(body, True)
        parameters, method = list(target.close()), target.getmethodname()
    except Fault:
        raise
    except Exception as error:  # the standard library's parser raises whatever its conversions do
        raise Fault(PARSE_ERROR, f"the request is no XML-RPC call: {error}") from None
    if not method:
        raise Fault(PARSE_ERROR, "the request is no XML-RPC call: it names no method")
    return method, parameters


def write_answer(value: Any) -> bytes:
    """The answer of a call, or a Fault, as XML."""
    answer: Any = value if isinstance(value, Fault) else (value,)
    xml = dumps(answer, methodresponse=True, encoding="utf-8")
    return NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", xml).encode("utf-8", "replace")


def is_true(parameters: dict[str, Any], name: str) -> bool:
    """Whether a switch is on, as mosesserver understands it."""
    value = parameters.get(name, False)
    return value if isinstance(value, bool) else str(value) in TRUE


def number(parameters: dict[str, Any], name: str) -> int:
    """A number, 0 where it is not given. Raises Fault where it is none."""
    value = parameters.get(name, 0)
    try:
        found = int(value) if isinstance(value, (int, str)) else None
    except ValueError:
        found = None
    if found is None or not MININT <= found <= MAXINT:
        raise Fault(TYPE_ERROR, f"{name}: expected a number")
    return found
