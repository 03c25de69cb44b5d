"""What a deploy announces: our own words, and everybody else's."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftwatch.model import Json
from driftwatch.web.hooks import announcement, senders
from driftwatch.web.hooks.announcement import Announcement, AnnouncementError, Ignored
from driftwatch.web.hooks.senders import Only
from driftwatch.web.hooks.signatures import Headers
from tests.web import sent
from tests.web.sent import COMMIT

EVERY = Only()
PUSH: Headers = {"x-github-event": "push"}
STATUS: Headers = {"x-github-event": "deployment_status"}
WORKFLOW: Headers = {"x-github-event": "workflow_run"}
GITLAB: Headers = {"x-gitlab-event": "Deployment Hook"}
OWN: Headers = {}


def test_our_own_body_needs_a_ref_and_nothing_else() -> None:
    assert senders.read(OWN, {"ref": " v2 "}, EVERY) == Announcement(ref="v2")


def test_our_own_body_says_everything_that_there_is_to_say() -> None:
    body: Json = {
        "servers": ["api", "web", "api"],
        "ref": "v2",
        "commit": COMMIT,
        "link": "https://ci.example.com/1",
        "actor": "octavia",
        "previous_ref": "v1",
        "environment": "production",
        "expect_change": True,
    }
    read = announcement.read(body)
    assert read == Announcement(**{**body, "servers": ("api", "web")})
    assert set(body) == set(announcement.KEYS)


def test_a_text_that_a_template_left_empty_is_left_out() -> None:
    assert announcement.read({"ref": "v2", "commit": "", "link": ""}) == Announcement(ref="v2")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ([], "not a JSON object"),
        ("v2", "not a JSON object"),
        ({}, '"ref" is missing: it names what was deployed'),
        ({"ref": ""}, '"ref" is empty'),
        ({"ref": "  "}, '"ref" is empty'),
        ({"ref": 7}, '"ref" must be text'),
        ({"ref": None}, '"ref" must be text'),
        ({"ref": "v" * 201}, '"ref" is longer than 200 characters'),
        ({"ref": "v2\nv3"}, '"ref" must be one line of printable text'),
        ({"ref": "v2\ud800"}, '"ref" must be one line'),
        ({"ref": "v\u202e2"}, '"ref" must be one line of printable text'),
        ({"ref": "v2", "link": "javascript:alert(1)"}, '"link" must be an address'),
        ({"ref": "v2", "link": "https://ci.example.com/ x"}, '"link" must be an address'),
        ({"ref": "v2", "servers": "api"}, '"servers" must be a list of names'),
        ({"ref": "v2", "servers": []}, '"servers" is empty: leave it out to mean every server'),
        ({"ref": "v2", "servers": [1]}, '"servers" must be text'),
        ({"ref": "v2", "expect_change": "yes"}, '"expect_change" must be true or false'),
        ({"ref": "v2", "server": ["a"]}, '"server" is not known: did you mean "servers"?'),
        ({"ref": "v2", "sha": COMMIT}, '"sha" is not known; known: ref, servers, commit'),
        ({"ref": "v2", "x" * 300: 1}, "an unknown key is not known"),
        ({"ref": "v2", "\ud800": 1}, "a key is not text"),
        ({"reff": "v2"}, '"reff" is not known: did you mean "ref"?'),
    ],
)
def test_what_is_wrong_with_our_own_body_is_said_with_its_key(body: Json, message: str) -> None:
    with pytest.raises(AnnouncementError) as raised:
        announcement.read(body)
    assert message in str(raised.value)
    assert "alert(1)" not in str(raised.value)


def test_everything_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(AnnouncementError, match=r'"link" .*; "actor" .*; "expect" .* "expect_change"'):
        announcement.read({"ref": "v2", "link": "x", "actor": 1, "expect": True})


@pytest.mark.parametrize(
    ("headers", "body", "read"),
    [
        (
            STATUS,
            sent.github_deployment_status(),
            Announcement(
                ref="main",
                commit=COMMIT,
                link="https://github.com/acme/bookshop/actions/runs/289782451/job/1",
                actor="octavia",
                environment="production",
            ),
        ),
        (
            WORKFLOW,
            sent.github_workflow_run(),
            Announcement(
                ref="main",
                commit=COMMIT,
                link="https://github.com/acme/bookshop/actions/runs/289782451",
                actor="percy",
            ),
        ),
        (
            GITLAB,
            sent.gitlab_deployment(),
            Announcement(
                ref="v2.1.0",
                commit=COMMIT,
                link="https://gitlab.example.com/acme/bookshop/-/jobs/796",
                actor="octavia",
                environment="production",
            ),
        ),
        (
            GITLAB,
            # An older GitLab, told by its API: neither a ref nor a job.
            {**sent.gitlab_deployment(deployable_url=None), "ref": None},
            Announcement(
                ref=COMMIT[:8],
                commit=COMMIT,
                link=f"https://gitlab.example.com/acme/bookshop/-/commit/{COMMIT}",
                actor="octavia",
                environment="production",
            ),
        ),
        *(
            (
                OWN,
                sent.vercel(event),
                Announcement(
                    ref="main",
                    commit=COMMIT,
                    link="https://vercel.com/acme/bookshop/FjHqKqFexmr",
                    actor="octavia",
                    environment="production",
                ),
            )
            for event in ("deployment.succeeded", "deployment.ready", "deployment.promoted")
        ),
        (
            OWN,
            sent.vercel_rollback(),
            Announcement(
                ref="dpl_old",
                previous_ref="dpl_new",
                link="https://vercel.com/acme/bookshop/FjHqKqFexmr",
                environment="production",
            ),
        ),
        (OWN, sent.argo_cd_application(), Announcement(ref=COMMIT, commit=COMMIT, actor="octavia")),
        (OWN, {"app": sent.argo_cd_application()}, Announcement(ref=COMMIT, commit=COMMIT, actor="octavia")),
        (
            OWN,
            sent.argo_cd_application()["status"]["operationState"],
            Announcement(ref=COMMIT, commit=COMMIT, actor="octavia"),
        ),
        (OWN, sent.argo_cd_sync_result(), Announcement(ref=COMMIT, commit=COMMIT)),
        (OWN, sent.argo_cd_sync_result(revision="1.4.2"), Announcement(ref="1.4.2")),
        (
            OWN,
            sent.argo_cd_application(revisions=["", "1.4.2", COMMIT]),
            Announcement(ref="1.4.2", actor="octavia"),
        ),
    ],
    ids=[
        "GitHub deployment status",
        "GitHub workflow run",
        "GitLab",
        "an older GitLab",
        "Vercel succeeded",
        "Vercel ready",
        "Vercel promoted",
        "Vercel rollback",
        "Argo CD application",
        "Argo CD application in a template",
        "Argo CD operation",
        "Argo CD sync result",
        "Argo CD with a chart",
        "Argo CD with several sources",
    ],
)
def test_native_webhooks_are_understood_without_configuration(
    headers: Headers, body: Json, read: Announcement
) -> None:
    assert senders.read(headers, body, EVERY) == read


@pytest.mark.parametrize(
    ("headers", "body", "reason"),
    [
        ({"x-github-event": "ping"}, sent.github_ping(), "pong"),
        ({"x-github-event": "deployment"}, sent.github_deployment(), "Deployment statuses"),
        (PUSH, {"ref": "refs/heads/main"}, "announces no deploy"),
        *(
            (STATUS, sent.github_deployment_status(state), '"success"')
            for state in ("pending", "queued", "in_progress", "failure", "error", "inactive")
        ),
        (WORKFLOW, sent.github_workflow_run(action="requested", conclusion=None), "completed with success"),
        (WORKFLOW, sent.github_workflow_run(conclusion="failure"), "completed with success"),
        (WORKFLOW, sent.github_workflow_run(event="pull_request"), "pull request"),
        (WORKFLOW, sent.github_workflow_run(event="pull_request_target"), "pull request"),
        *(
            (GITLAB, sent.gitlab_deployment(status), '"success"')
            for status in ("running", "failed", "canceled", "blocked", "approved")
        ),
        (
            {"x-gitlab-event": "Push Hook"},
            {"object_kind": "push", "ref": "refs/heads/main"},
            "Deployment events",
        ),
        ({"x-gitlab-event": "Pipeline Hook"}, {"object_kind": "pipeline"}, "Deployment events"),
        *(
            (OWN, sent.vercel(event), "deployment.promoted")
            for event in ("deployment.created", "deployment.error", "deployment.canceled", "project.created")
        ),
        (OWN, sent.argo_cd_application("Running"), '"Succeeded"'),
        (OWN, sent.argo_cd_application("Failed"), '"Succeeded"'),
    ],
)
def test_what_is_no_finished_deploy_is_ignored_with_its_reason(
    headers: Headers, body: Json, reason: str
) -> None:
    read = senders.read(headers, body, EVERY)
    assert isinstance(read, Ignored)
    assert reason in read.reason


def test_the_address_of_a_webhook_can_narrow_it_to_an_environment() -> None:
    only = Only(environments=frozenset({"production"}))
    for headers, body in (
        (STATUS, sent.github_deployment_status(environment="Production")),
        (OWN, sent.vercel()),
        (OWN, {"ref": "v2", "environment": "production"}),
        (OWN, {"ref": "v2"}),
        (WORKFLOW, sent.github_workflow_run()),
    ):
        assert isinstance(senders.read(headers, body, only), Announcement)
    for headers, body in (
        (STATUS, sent.github_deployment_status(environment="Preview")),
        (OWN, sent.vercel(target=None)),
        (OWN, {"ref": "v2", "environment": "staging"}),
    ):
        assert isinstance(senders.read(headers, body, only), Ignored)


def test_the_address_of_a_webhook_can_narrow_it_to_a_workflow() -> None:
    only = Only(workflows=frozenset({"deploy"}))
    assert isinstance(senders.read(WORKFLOW, sent.github_workflow_run(name="Deploy"), only), Announcement)
    assert isinstance(senders.read(WORKFLOW, sent.github_workflow_run(name="Test"), only), Ignored)
    assert isinstance(senders.read(STATUS, sent.github_deployment_status(), only), Announcement)


def test_a_finished_deploy_of_nothing_that_has_a_name_is_an_error() -> None:
    body: Any = sent.github_deployment_status()
    body["deployment"] |= {"ref": None, "sha": "\u200b"}
    with pytest.raises(AnnouncementError, match="does not say what was deployed"):
        senders.read(STATUS, body, EVERY)


def test_foreign_texts_are_cut_and_made_one_printable_line() -> None:
    body: Any = sent.github_deployment_status()
    body["deployment"]["ref"] = "feature/\x1b[31m\nred\ud800" + "x" * 5000
    body["deployment_status"] |= {
        "log_url": "javascript:alert(1)",
        "target_url": "https://ci/\nSet-Cookie: a",
    }
    body["deployment"]["creator"]["login"] = ["octavia"]
    read = senders.read(STATUS, body, EVERY)
    assert isinstance(read, Announcement)
    assert read.ref.startswith("feature/ [31m red xxx")
    assert len(read.ref) == 200
    assert read.link is None
    assert read.actor == "octavia"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
KEYS = sorted(
    {"status", "operationState", "syncResult", "phase", "resources", "revisions", "app", "payload", "type"}
    | {"deployment", "deployment_status", "workflow_run", "state", "conclusion", "action", "object_kind"}
    | {"ref", "sha", "user", "meta", "links", "creator", "sender", "event", "name", "commit_url", "target"}
)
WORDS = st.sampled_from(["success", "completed", "Succeeded", "deployment", "deployment.succeeded", "v2"])
SHAPED = st.recursive(
    JSON | WORDS,
    lambda inner: st.dictionaries(st.sampled_from(KEYS), inner | WORDS, max_size=5),
    max_leaves=20,
)


@given(st.sampled_from([OWN, PUSH, STATUS, WORKFLOW, GITLAB, {"x-github-event": "\xe4"}]), SHAPED)
def test_no_body_raises_anything_but_what_is_told(headers: Headers, body: Json) -> None:
    try:
        read = senders.read(headers, body, EVERY)
    except AnnouncementError as error:
        assert str(error)  # noqa: PT017 - either is fine; nothing else is
    else:
        if isinstance(read, Announcement):
            texts = [read.ref, read.commit, read.link, read.actor, read.previous_ref, read.environment]
            assert all(text is None or (text.isprintable() and text.encode()) for text in texts)
