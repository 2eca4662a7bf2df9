"""The farm: carries out what the queue of work in a book holds, on one machine or on many.

The database is the truth. Whoever works leases a task, does it, and puts what came of it into the
book together with the end of the task; whoever dies loses his lease, and the next one gets it. A
machine works alone (`loopbook.farm.alone`), or Ray spreads the tasks over a cluster
(`loopbook.farm.cluster`, `loopbook.farm.dispatch`); both do a task by the same code
(`loopbook.farm.carry`).
"""
