"""Releases and the runs after them: announced, joined, gone on with, over.

A server has one run at a time and at most one that waits. What is to be read next is always a row among the
probe requests, so that a run survives its process like any other probe.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from sqlalchemy import RowMapping

from driftwatch import deploys
from driftwatch.deploys import DeployOutcome
from driftwatch.model import DeployState, Depth, ProbeRequest, Release, Trigger
from driftwatch.store import mapping
from driftwatch.store.ports import DeployRun, HookDelivery
from driftwatch.store.statements import deploys as sql
from driftwatch.store.statements.due import DELETE_REQUEST, REQUESTS, REQUESTS_OF, RUN_EXISTS
from driftwatch.store.unit import Unit

REPEATED_CALLS = timedelta(hours=72)
"""How long a webhook's sender may repeat a call and get the first answer."""

LONGEST_POSTPONEMENT = timedelta(minutes=5)
"""Announcements that keep coming put off the first read of the oldest no further than this."""


class Deploys(Unit):
    """The part of a transaction that knows of releases."""

    def announce(
        self,
        delivery: HookDelivery,
        release: Release,
        requests: Sequence[ProbeRequest],
        *,
        debounce: timedelta,
    ) -> HookDelivery:
        """Write a call of the webhook, its release, and the first read of each server; what to answer.

        A delivery id that was used within 72 hours gives the earlier delivery back, and nothing is written;
        its ``body_sha256`` says whether it was the same call. Another announcement for the same servers
        within ``debounce`` joins the release of the first: that takes its words, and its reads begin anew.
        A server has one run at a time, and at most one that waits: the newest release takes the older
        waiting ones along.
        """
        for row in self._rows(sql.HOOK_DELIVERY, key=delivery.id):
            if row["received_at"] > delivery.received_at - REPEATED_CALLS:
                return mapping.hook_delivery(row)
            self._run(sql.FORGET_HOOK_DELIVERY, {"key": delivery.id})
        joined = self._joined(release, debounce)
        if joined is None:
            self._run(sql.ADD_RELEASE, mapping.release_values(release))
            for request in requests:
                self._add(release, request)
        else:
            self._join(joined, release, requests)
        answered = replace(delivery, release=joined.id if joined else release.id)
        self._run(sql.ADD_HOOK_DELIVERY, mapping.hook_delivery_values(answered))
        return answered

    def deploy_run(self, server: str) -> DeployRun | None:
        """The run that is under way for a server, or waits for its first read; None without one."""
        rows = self._rows(sql.OUTCOMES_UNDER_WAY_OF, server=self._server_id(server))
        if not rows:
            return None
        row = min(rows, key=lambda row: row["state"] is DeployState.WAITING)
        (release,) = self._rows(sql.RELEASE, of_release=row["run_release"])
        return mapping.deploy_run(row, mapping.release(release))

    def go_on(self, run: DeployRun, request: ProbeRequest) -> None:
        """Keep the progress of a run and plan its next read."""
        key = self._server_id(run.server)
        values = {
            "state": DeployState.SETTLING,
            "progress": run.progress.to_json() if run.progress else None,
            "reads": run.progress.reads if run.progress else 0,
            "events": list(run.events),
        }
        self._run(sql.UPDATE_RUN_OUTCOMES, {"key": run.release.id, "of_server": key, **values})
        self._plan_read(key, request)

    def hand_over(self, run: DeployRun, now: datetime) -> bool:
        """Let the release that waits for the server take this run along; False where none waits.

        Its reads begin anew, and answer for both.
        """
        key = self._server_id(run.server)
        rows = self._rows(sql.OUTCOMES_UNDER_WAY_OF, server=key)
        waiting = next((row for row in rows if row["run_release"] != run.release.id), None)
        if waiting is None:
            return False
        for row in rows:
            taken = {"run_release": waiting["run_release"], "due_at": waiting["due_at"]}
            anew = {"state": DeployState.WAITING, "progress": None, "reads": 0}
            self._run(sql.UPDATE_OUTCOME, {"key": row["release_id"], "of_server": key, **taken, **anew})
        self._plan_first(waiting, now)
        return True

    def end_deploy(self, outcome: DeployOutcome, now: datetime) -> bool:
        """Write what became of a server's run, for every release that it looked after.

        The next run of the server, if one waits, is planned. Where it was the last server of the release,
        what the release has to tell may leave: then True.
        """
        key = self._server_id(outcome.server)
        values = mapping.deploy_outcome_values(outcome)
        self._run(sql.UPDATE_RUN_OUTCOMES, {"key": outcome.run_release, "of_server": key, **values})
        waiting = self._rows(sql.OUTCOMES_UNDER_WAY_OF, server=key)
        if waiting:
            self._plan_first(waiting[0], now)
        told = self._rows(sql.OUTCOMES_OF_RUN, of_run=outcome.run_release)
        if any(not row["state"].over for row in told):
            return False
        events = list(dict.fromkeys(event for row in told for event in row["events"]))
        if events:
            self._run(sql.LET_GO, {"event_ids": events, "now": now})
        return bool(events)

    def resume_deploys(self, now: datetime) -> int:
        """Plan a read for every run that lost its own; how many."""
        asked = {row["server_id"] for row in self._rows(REQUESTS) if row["trigger"] is Trigger.DEPLOY}
        resumed = 0
        for row in sorted(self._rows(sql.OUTCOMES_UNDER_WAY), key=_settling_first):
            if row["server_id"] not in asked:
                self._plan_first(row, now)
                asked.add(row["server_id"])
                resumed += 1
        return resumed

    def _joined(self, release: Release, debounce: timedelta) -> Release | None:
        """The release of a moment ago, for the same servers, of which no server is done yet."""
        for row in self._rows(sql.RECENT_RELEASES, since=release.received_at - debounce):
            earlier = mapping.release(row)
            outcomes = self._rows(sql.OUTCOMES_OF, of_release=earlier.id)
            if set(earlier.servers) == set(release.servers) and all(
                not outcome["state"].over and outcome["run_release"] == earlier.id for outcome in outcomes
            ):
                return earlier
        return None

    def _join(self, joined: Release, release: Release, requests: Sequence[ProbeRequest]) -> None:
        """Give a release the words of a newer announcement, and let its reads begin anew."""
        words = mapping.release_values(release)
        for kept in ("id", "received_at", "servers"):
            del words[kept]
        words["previous_ref"] = joined.previous_ref or release.previous_ref
        self._run(sql.UPDATE_RELEASE, {"key": joined.id, **words})
        for request in requests:
            key = self._server_id(request.server)
            anew = {"due_at": request.due_at, "progress": None}
            self._run(sql.UPDATE_RUN_OUTCOMES, {"key": joined.id, "of_server": key, **anew})
            rows = self._rows(sql.OUTCOMES_UNDER_WAY_OF, server=key)
            if not any(
                row["state"] is DeployState.SETTLING and row["run_release"] != joined.id for row in rows
            ):
                self._plan_read(key, replace(request, release_ref=joined.id), handed_out=False)

    def _add(self, release: Release, request: ProbeRequest) -> None:
        """A run of this release for one server: now, or after the one that is under way."""
        key = self._server_id(request.server)
        rows = self._rows(sql.OUTCOMES_UNDER_WAY_OF, server=key)
        waiting = [row for row in rows if row["state"] is DeployState.WAITING]
        longest = request.due_at - release.received_at + LONGEST_POSTPONEMENT
        due_at = min([request.due_at, *(row["received_at"] + longest for row in waiting)])
        for row in waiting:
            taken = {"run_release": release.id, "due_at": due_at}
            self._run(sql.UPDATE_OUTCOME, {"key": row["release_id"], "of_server": key, **taken})
        values: mapping.Values = {
            "release_id": release.id,
            "server_id": key,
            "run_release": release.id,
            "state": DeployState.WAITING,
            "due_at": due_at,
            "reads": 0,
            "counts": {},
            "changed": False,
            "breaking": False,
            "summary": "",
            "events": [],
        }
        self._run(sql.ADD_OUTCOME, values)
        if len(waiting) == len(rows):
            self._plan_read(key, replace(request, due_at=due_at))

    def _plan_first(self, row: RowMapping, now: datetime) -> None:
        """Plan the first read of a run, or one more of a run that lost it."""
        request = ProbeRequest(
            server=row["name"],
            due_at=max(row["due_at"], now),
            trigger=Trigger.DEPLOY,
            depth=Depth.FULL,
            priority=deploys.PRIORITY,
            release_ref=row["run_release"],
        )
        self._plan_read(row["server_id"], request)

    def _plan_read(self, key: int, request: ProbeRequest, *, handed_out: bool = True) -> None:
        """Let a server's next deploy read be this one, in the place of any that waits.

        Without ``handed_out`` only where no read is on its way: that one plans the next itself.
        """
        found = [row for row in self._rows(REQUESTS_OF, server=key) if row["trigger"] is Trigger.DEPLOY]
        for row in found:
            if row["claimed_by"] is None:
                self._run(DELETE_REQUEST, _key(row))
        if not handed_out and any(row["claimed_by"] is not None for row in found):
            return
        due_at = request.due_at
        while self._first(RUN_EXISTS, server=key, was_due_at=due_at, why=Trigger.DEPLOY) is not None or any(
            row["due_at"] == due_at and row["claimed_by"] is not None for row in found
        ):
            # The same moment was used before: its read would be taken for a replay.
            due_at += timedelta(microseconds=1)
        self._first(
            self._process.upserts.request, **mapping.request_values(key, replace(request, due_at=due_at))
        )


def _settling_first(row: RowMapping) -> tuple[bool, datetime]:
    return row["state"] is DeployState.WAITING, row["due_at"]


def _key(row: RowMapping) -> mapping.Values:
    return {"key": row["server_id"], "was_due_at": row["due_at"], "why": row["trigger"]}
