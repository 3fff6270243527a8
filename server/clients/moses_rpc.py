"""Moses' XML-RPC at /RPC2, as mosesserver speaks it: the method `translate`, with the parameters of its clients."""

from collections.abc import Sequence
from typing import Any
from xmlrpc.client import MAXINT, MININT, Fault

from fastapi import APIRouter, Response
from starlette.exceptions import HTTPException
from starlette.requests import Request as HttpRequest

from phrasebeam.base.errors import SmtError
from phrasebeam.decoder.model.moses_names import MosesFeature, named_values
from phrasebeam.decoder.output.request import Request, SparseDetail
from phrasebeam.decoder.output.translation import Translation
from phrasebeam.decoder.search.stop_flag import StopFlag
from phrasebeam.server.clients.xml_rpc import (
    MULTICALL,
    NO_SUCH_METHOD,
    PARSE_ERROR,
    SYSTEM,
    TYPE_ERROR,
    calls_of,
    fault_of,
    read_call,
    system_answer,
    write_answer,
)
from phrasebeam.server.routes.sentence_body import SentenceBody, check_nbest, input_of
from phrasebeam.server.serving.served_models import ServedModel
from phrasebeam.server.serving.service import Service, Serving

router = APIRouter(tags=["Moses"])
# Parameters of mosesserver that have no counterpart here. Requests with them are refused; they are not ignored.
UNSUPPORTED = {
    "sg": "the search graph; translate --lattice-output writes it",
    "topt": "translation options",
    "lambda": "weights of phrase tables",
    "weights": "weights of a request; the model's weights.yaml has them",
    "session-id": "sessions",
    "context": "context",
    "context-scope": "context",
    "context-weights": "context",
}
BODY = {"content": {"text/xml": {"schema": {"type": "string"}}}, "required": True}
ANSWER: dict[int | str, dict[str, Any]] = {200: {"content": {"text/xml": {}}, "description": "A result or a fault"}}
TRUE = ("true", "True", "TRUE", "1")  # strings that mosesserver reads as true


@router.post("/RPC2", response_class=Response, openapi_extra={"requestBody": BODY}, responses=ANSWER)
async def call(request: HttpRequest, service: Serving) -> Response:
    """Moses' XML-RPC with the first model: the method translate, and its parameters."""
    return await _answer(request, service, None)


@router.post("/RPC2/{model}", response_class=Response, openapi_extra={"requestBody": BODY}, responses=ANSWER)
async def call_model(model: str, request: HttpRequest, service: Serving) -> Response:
    """Moses' XML-RPC with the named model."""
    return await _answer(request, service, model)


async def _answer(request: HttpRequest, service: Service, model: str | None) -> Response:
    try:
        method, parameters = read_call(await request.body())
        result: object = await _call(method, parameters, model, request, service)
    except (Fault, SmtError, HTTPException) as error:
        result = fault_of(error)
    return Response(write_answer(result), media_type="text/xml")


async def _call(
    method: str, parameters: Sequence[Any], model: str | None, request: HttpRequest, service: Service
) -> object:
    if method == MULTICALL:
        return await _several(parameters, model, request, service)
    if method in SYSTEM:
        return system_answer(method, parameters)
    if method != "translate":
        raise Fault(NO_SUCH_METHOD, f"no method {method[:40]!r}; expected translate")
    if len(parameters) != 1 or not isinstance(parameters[0], dict):
        raise Fault(TYPE_ERROR, "translate takes one struct, with the member text")
    return await _translate(parameters[0], service.models.get(model), request, service)


async def _several(
    parameters: Sequence[Any], model: str | None, request: HttpRequest, service: Service
) -> list[object]:
    """The results of several calls, one after the other: each result in a list of its own, or its fault as a struct."""
    results: list[object] = []
    for name, given in calls_of(parameters, service.limits.max_lines):
        try:
            results.append([await _call(name, given, model, request, service)])
        except (Fault, SmtError, HTTPException) as error:
            fault = fault_of(error)
            results.append({"faultCode": fault.faultCode, "faultString": fault.faultString})
    return results


async def _translate(given: dict[str, Any], served: ServedModel, request: HttpRequest, service: Service) -> object:
    for name, what in UNSUPPORTED.items():
        if name in given and (name not in ("sg", "topt") or is_true(given, name)):
            raise Fault(TYPE_ERROR, f"{name}: {what} is not available here; leave it out")
    if "text" not in given:
        raise Fault(PARSE_ERROR, "Missing source text")
    if not isinstance(given["text"], str):
        raise Fault(TYPE_ERROR, "text: expected a string")
    n, limits = max(number(given, "nbest"), 0), service.limits
    check_nbest("nbest", n, limits)
    needs_features, is_distinct = is_true(given, "add-score-breakdown"), is_true(given, "nbest-distinct")
    sparse: SparseDetail = "names" if needs_features else ""
    wanted = Request(n or None, is_distinct, served.decoder.request.mbr, sparse=sparse)
    sentence_body = SentenceBody(text=given["text"].strip())

    def job(stop: StopFlag) -> dict[str, Any]:
        sentence = input_of(sentence_body, served, False, None, limits.max_words)
        answer = served.decoder.answer(sentence, wanted, stop)
        service.metrics.note_sentence(served.name, len(sentence.words))
        result = _hypothesis("text", answer.translation, given)
        if n:
            names = served.decoder.model.moses_names if needs_features else None
            result["nbest"] = [_listed(one, given, names) for one in answer.nbest]
        return result

    (result,) = await service.run(request, [job])
    return result


def _hypothesis(key: str, one: Translation, given: dict[str, Any]) -> dict[str, Any]:
    """A translation with the names that mosesserver uses; ends of spans are inclusive."""
    result: dict[str, Any] = {key: one.text}
    if is_true(given, "align"):
        result["align"] = [
            {
                "src-start": phrase.source_span[0],
                "src-end": phrase.source_span[1] - 1,
                "tgt-start": phrase.target_span[0],
                "tgt-end": phrase.target_span[1] - 1,
            }
            for phrase in one.phrases
        ]
    if is_true(given, "word-align"):
        result["word-align"] = [{"source-word": source, "target-word": target} for source, target in one.alignment]
    return result


def _listed(one: Translation, given: dict[str, Any], names: Sequence[MosesFeature] | None) -> dict[str, Any]:
    """An entry of the n-best list, with feature values if `names` of the features are given."""
    result = _hypothesis("hyp", one, given) | {"totalScore": one.score}
    if names is not None:
        sparse = [(one.sparse_names[key], value) for key, value in one.sparse.items()]
        values = dict(named_values(names, one.features, sparse))
        result["scores"] = values
        result["fvals"] = " ".join(f"{name}= " + " ".join(f"{v:.6g}" for v in some) for name, some in values.items())
    return result


def is_true(parameters: dict[str, Any], name: str) -> bool:
    """Whether a switch is on, by mosesserver's rules."""
    value = parameters.get(name, False)
    return value if isinstance(value, bool) else str(value) in TRUE


def number(parameters: dict[str, Any], name: str) -> int:
    """A number, 0 if it is not given. Raises Fault if it is not a number."""
    value = parameters.get(name, 0)
    try:
        found = int(value) if isinstance(value, (int, str)) else None
    except ValueError:
        found = None
    if found is None or not MININT <= found <= MAXINT:
        raise Fault(TYPE_ERROR, f"{name}: expected a number")
    return found
