"""The simulated fleet keeps the laws of queues: what it tells of servers that nobody has is worth as much as they."""

from __future__ import annotations

import pytest

from bench.demand import Demand
from bench.fleet import Simulation
from bench.fleet_parts import Fleet, Kind, Ran, Server, slopes
from bench.kernel import Activity, Bell, Disk, Kernel, Places, Processors
from bench.scaling import Row, bracket

MEASURED = {
    "intake": Demand(800, 100, 1_700, 1, trips=9),
    "claim": Demand(800, 100, 1_000, 1),
    "claims": Demand(1_600, 100, 8_000, 1),
    "material": Demand(300, 100, trips=3),
    "materials": Demand(600, 100, trips=3),
    "renewal": Demand(500, 100, 500, 1, trips=3),
    "complete invoice": Demand(3_000, 100, 25_000, 1, trips=5),
    "complete invoices": Demand(20_000, 100, 250_000, 1, trips=5),
    "poll": Demand(100, 100),
    "look": Demand(100, 100),
    "look among workers": Demand(300, 100),
    "notify": Demand(1_000, 100, 40, 1),
    "heard": Demand(30),
    "sweep": Demand(500, 100, 170, 1),
    "sweep elsewhere": Demand(400, 100),
    "sweep of tasks": Demand(2_500, 100, 170, 1),
}
COSTS = slopes(MEASURED, 2_000)
SECONDS_A_DOCUMENT = 4_100 / 1e6  # claim, material and completion of one invoice, at the server


def simulated(slots: int, seconds: float, cores: float = 8, commit: float = 0.001, documents: int = 600) -> Ran:
    return Simulation(Fleet(slots, (Kind(seconds),)), Server(cores, commit), COSTS).run(documents)


def test_slots_that_are_few_do_all_that_slots_can() -> None:
    ran = simulated(8, 1.0)
    assert 0.95 < ran.efficiency <= 1.01
    assert ran.limit == "slots"


@pytest.mark.parametrize("cores", [1, 2, 4.5])
def test_no_server_does_more_than_its_processors_can(cores: float) -> None:
    ran = simulated(100 * round(cores), 0.1, cores, 0.0001, 1_000)
    assert ran.documents_a_second == pytest.approx(cores / SECONDS_A_DOCUMENT, rel=0.1)
    assert ran.processors == pytest.approx(1, rel=0.05)
    assert ran.limit.startswith("processors")


def test_the_sessions_of_few_processes_hold_back_many_slots_where_commits_are_slow() -> None:
    ran = simulated(32, 0.02, 32, 0.05)
    assert ran.limit == "sessions"
    assert ran.processors < 0.2


def test_all_that_is_in_work_makes_every_sweep_dearer() -> None:
    fleet, machine = Fleet(800, (Kind(10.0),)), Server(32, 0.0001)
    flat = {**COSTS, "sweep a task": Demand(0)}
    dear, cheap = (Simulation(fleet, machine, costs).run(300).for_sweeps for costs in (COSTS, flat))
    assert dear > 1.5 * cheap


def test_a_notification_costs_more_the_more_slots_it_wakes() -> None:
    def idle(*, listens: bool) -> Ran:
        fleet = Fleet(160, (Kind(1.0),), arrivals_a_second=20, listens=listens)
        return Simulation(fleet, Server(8, 0.001), COSTS).run(100)

    woken, looking = idle(listens=True), idle(listens=False)
    assert woken.for_polls > 10 * looking.for_polls
    assert woken.claim_p50_ms < 100


def test_a_run_can_be_repeated() -> None:
    assert simulated(40, 0.1, documents=100) == simulated(40, 0.1, documents=100)


def test_who_computes_shares_the_cores() -> None:
    ends: list[float] = []
    kernel = Kernel()
    processors = Processors(kernel, 1.5)

    def computing(seconds: float) -> Activity:
        yield processors.use(seconds)
        ends.append(kernel.now)

    for seconds in (1.0, 1.0, 2.0):
        kernel.start(computing(seconds))
    kernel.run(lambda: False)
    assert ends == pytest.approx([2.0, 2.0, 3.0])


def test_commits_that_wait_share_a_flush() -> None:
    kernel = Kernel()
    disk = Disk(kernel, 1.0, 1e9)

    def committing() -> Activity:
        while True:
            yield disk.commit(0)

    for _ in range(10):
        kernel.start(committing())
    kernel.run(lambda: kernel.now >= 100)
    assert disk.commits / kernel.now == pytest.approx(5, rel=0.05)  # the first is alone: ones who come meanwhile wait
    assert disk.commits / disk.flushes == pytest.approx(5, rel=0.05)


def test_a_place_is_for_one_at_a_time() -> None:
    kernel, held = Kernel(), list[float]()
    session = Places(kernel, 1)

    def holding() -> Activity:
        yield session.take
        held.append(kernel.now)
        yield kernel.wait(1.0)
        session.give(held[-1])

    for _ in range(3):
        kernel.start(holding())
    kernel.run(lambda: False)
    assert held == [0.0, 1.0, 2.0]
    assert session.busy_seconds == 3.0


def test_who_waits_for_a_bell_in_vain_goes_on_once() -> None:
    kernel, woken = Kernel(), list[float]()
    bell = Bell(kernel)

    def waiting(seconds: float) -> Activity:
        yield bell.wait(seconds)
        woken.append(kernel.now)

    def ringing() -> Activity:
        yield kernel.wait(2.0)
        assert bell.ring() == 1

    for activity in (waiting(1.0), waiting(3.0), ringing()):
        kernel.start(activity)
    kernel.run(lambda: False)
    assert woken == [1.0, 2.0]


def test_the_slots_a_server_carries_lie_where_each_begins_to_do_less() -> None:
    ran = {slots: simulated(slots, 0.1, 2) for slots in (8, 32, 128)}
    row = Row("0.1 s", Server(2, 0.001), ran)
    assert bracket(ran) == (8, 32) or bracket(ran) == (32, 128)
    assert bracket(ran)[0] <= row.carried <= bracket(ran)[1]
