"""GET /health: whether the server is well."""

from fastapi import APIRouter
from pydantic import BaseModel

router = APIRouter(tags=["server"])


class Health(BaseModel):
    """Answer that the server is running."""

    status: str = "ok"


@router.get("/health")
async def health() -> Health:
    """Answer as long as the server runs; needs no token."""
    return Health()
