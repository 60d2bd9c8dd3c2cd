"""leafgrad against PyTorch on the CPU: `python -m benchmarks`, or `make bench`.

`workloads/` has what is timed, written once for both libraries; `operations.py` the single operations, `footprint.py`
the import and what lies on the disk, `peers.py` the same work for other libraries. `rounds.py` lets processes of
`worker.py` take turns, `results.py` turns their times into ratios, `page.py` and `picture.py` show them.

Two more measure leafgrad alone: `python benchmarks/checkpoint.py` what checkpoints save, `python
benchmarks/origin_cost.py` what it costs that every operation knows its line.
"""
