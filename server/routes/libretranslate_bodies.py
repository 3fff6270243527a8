"""What LibreTranslate's endpoints take and answer."""

from pydantic import BaseModel, ConfigDict, Field

from phrasebeam.server.routes.sentence_body import Text


class LibreTranslateRequest(BaseModel):
    """What every request may have."""

    model_config = ConfigDict(extra="ignore")  # clients send more than servers know
    api_key: str | None = None  # the server's token


class LibreTranslateBody(LibreTranslateRequest):
    """What /translate takes."""

    q: Text | list[Text]
    source: str = Field(max_length=100, description="a language code, or auto")
    target: str = Field(max_length=100)
    format: str | None = Field(default="text", max_length=100, description="text or html")
    alternatives: int = Field(default=0, ge=0)


class DetectBody(LibreTranslateRequest):
    """What /detect takes."""

    q: Text


class Detected(BaseModel):
    """A language, and the share of words that its models know, in percent."""

    confidence: float
    language: str


class LibreTranslateAnswer(BaseModel):
    """What /translate answers: lists where q is one."""

    translatedText: str | list[str]
    alternatives: list[str] | list[list[str]] | None = None
    detectedLanguage: Detected | list[Detected] | None = None


class LanguageAnswer(BaseModel):
    """A source language and what it can be translated to."""

    code: str
    name: str
    targets: list[str]


class LanguageName(BaseModel):
    """A language."""

    code: str
    name: str


class SettingsAnswer(BaseModel):
    """What /frontend/settings answers: what a client has to know before it shows a form."""

    charLimit: int
    frontendTimeout: int = 500  # milliseconds after a key until a text is translated; LibreTranslate's default
    apiKeys: bool
    keyRequired: bool
    suggestions: bool = False
    filesTranslation: bool = False
    supportedFilesFormat: list[str] = []
    language: dict[str, LanguageName]  # source and target that are chosen at first
