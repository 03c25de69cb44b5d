"""The pages for people: server-rendered, without a script, and without a way to change anything."""

from starlette.routing import Route

from driftwatch.web.pages import assets, badges, diff, events, fleet, login, outbox, server
from driftwatch.web.pages.site import Site, is_for_people

__all__ = ["Site", "is_for_people", "routes"]


def routes(site: Site) -> list[Route]:
    """Every page, the login, the badges and what pages load."""
    return [
        Route("/", site.page(fleet.view)),
        Route("/servers/{name}", site.page(server.view)),
        Route("/servers/{name}/diff", site.page(diff.view)),
        Route("/events", site.page(events.list_view)),
        Route("/events/{id}", site.page(events.one_view)),
        Route("/outbox", site.page(outbox.view)),
        Route("/badge/{server}.svg", site.page(badges.svg)),
        Route("/badge/{server}.json", site.page(badges.json)),
        *login.routes(site),
        *assets.routes(),
    ]
