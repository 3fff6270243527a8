"""XML-RPC: calls as XML, answers and faults, and the methods `system.*` by which clients ask for a server's methods."""

import re
from collections.abc import Iterator, Sequence
from typing import Any
from xml.parsers import expat
from xmlrpc.client import Fault, Unmarshaller, dumps

from starlette.exceptions import HTTPException

from phrasebeam.base.errors import SmtError, printable

# Codes of xmlrpc-c, the library that mosesserver uses.
TYPE_ERROR, PARSE_ERROR, NO_SUCH_METHOD, REFUSED, TOO_MUCH = -501, -503, -506, -507, -509
CODES = {400: TYPE_ERROR, 404: REFUSED, 413: TOO_MUCH, 422: TYPE_ERROR, 429: REFUSED, 503: REFUSED}
NOT_IN_XML = re.compile("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\ufffe\uffff]")
MULTICALL = "system.multicall"
# For each method the types of its result and its parameters, and what it does
METHODS = {
    "translate": (["struct", "struct"], "Translates the member text; further members say what is wanted besides."),
    "system.listMethods": (["array"], "The methods of this server."),
    "system.methodHelp": (["string", "string"], "What a method does."),
    "system.methodSignature": (["array", "string"], "The types of a method's result and of its parameters."),
    MULTICALL: (["array", "array"], "Several calls, each a struct of methodName and params."),
}
SYSTEM = frozenset(METHODS) - {"translate", MULTICALL}


def system_answer(method: str, parameters: Sequence[Any]) -> object:
    """The result of a method of SYSTEM. Raises Fault."""
    if method == "system.listMethods":
        return [*METHODS]
    if len(parameters) != 1 or not isinstance(parameters[0], str):
        raise Fault(TYPE_ERROR, f"{method} takes the name of a method")
    if parameters[0] not in METHODS:
        raise Fault(NO_SUCH_METHOD, f"no method {parameters[0][:40]!r}; expected {', '.join(METHODS)}")
    types, help = METHODS[parameters[0]]
    return help if method == "system.methodHelp" else [types]


def calls_of(parameters: Sequence[Any], most: int) -> Iterator[tuple[str, Sequence[Any]]]:
    """The calls of a system.multicall: names and parameters. Raises Fault."""
    calls = parameters[0] if len(parameters) == 1 else None
    if not isinstance(calls, list) or not all(isinstance(one, dict) for one in calls):
        raise Fault(TYPE_ERROR, f"{MULTICALL} takes an array of structs with methodName and params")
    if len(calls) > most:
        raise Fault(TOO_MUCH, f"{len(calls)} calls at once, at most {most}; send less at once")
    for one in calls:
        name, given = one.get("methodName"), one.get("params")
        if not isinstance(name, str) or not isinstance(given, list) or name == MULTICALL:
            raise Fault(TYPE_ERROR, f"a call of {MULTICALL} has no methodName or params, or is another one of these")
        yield name, given


def fault_of(error: Fault | SmtError | HTTPException) -> Fault:
    """An error as a fault of XML-RPC."""
    if isinstance(error, Fault):
        return Fault(error.faultCode, printable(error.faultString))
    if isinstance(error, HTTPException):
        return Fault(CODES.get(error.status_code, REFUSED), str(error.detail))
    return Fault(TYPE_ERROR, str(error))


def read_call(body: bytes) -> tuple[str, list[Any]]:
    """The name and the parameters of a call. Raises Fault if the body is not a call, or declares entities."""
    target, parser = Unmarshaller(), expat.ParserCreate()

    def refuse(*declaration: object) -> None:
        raise Fault(PARSE_ERROR, "the call has a document type declaration; leave it out")

    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler, parser.EndElementHandler = target.start, target.end
    parser.CharacterDataHandler = target.data
    target.xml(None, None)  # type: ignore[arg-type]  # None: text has been decoded already
    try:
        parser.Parse(body, True)
        parameters, method = list(target.close()), target.getmethodname()
    except Fault:
        raise
    except Exception as error:  # the standard library's parser raises any error of its conversions
        raise Fault(PARSE_ERROR, f"the request is no XML-RPC call: {error}") from None
    if not method:
        raise Fault(PARSE_ERROR, "the request is no XML-RPC call: it names no method")
    return method, parameters


def write_answer(value: Any) -> bytes:
    """The answer of a call, or a Fault, as XML."""
    answer: Any = value if isinstance(value, Fault) else (value,)
    xml = dumps(answer, methodresponse=True, encoding="utf-8")
    return NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", xml).encode("utf-8", "replace")
