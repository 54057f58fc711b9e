"""usage: slurm.py MRVLC PAGE WORK

The job array of docs/batch.md under a real Slurm: controller, node and munge of this test alone, in WORK, which is emptied first. As root, as Debian's
munged and slurmd want it; exits with 77 (skipped) otherwise.
"""

import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import time

from batch import small_models

MRVLC, PAGE, WORK = (pathlib.Path(a).absolute() for a in sys.argv[1:4])
CONFIGURATION = """
ClusterName=test
SlurmctldHost={host}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={work}/munge/socket
StateSaveLocation={work}/state
SlurmdSpoolDir={work}/spool
SlurmctldPidFile={work}/slurmctld.pid
SlurmdPidFile={work}/slurmd.pid
SlurmctldLogFile={work}/slurmctld.log
SlurmdLogFile={work}/slurmd.log
SlurmctldPort={port}
SlurmdPort={port_of_node}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
ReturnToService=2
MpiDefault=none
NodeName={host} CPUs=1 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def start(environment):
    for folder in ("munge", "state", "spool"):
        (WORK / folder).mkdir(mode=0o700)
    key = WORK / "munge/key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o400)
    host = socket.gethostname().split(".")[0]
    (WORK / "slurm.conf").write_text(CONFIGURATION.format(host=host, work=WORK, port=free_port(), port_of_node=free_port()))
    munge = [f"--{name}-file={WORK}/munge/{name}" for name in ("key", "pid", "log", "seed")]
    for command in (["munged", "--force", f"--socket={WORK}/munge/socket", *munge], ["slurmctld"], ["slurmd", "-N", host]):
        subprocess.run(command, check=True, env=environment, capture_output=True, timeout=60)
        time.sleep(1)


def stop():
    for pid in ("slurmd.pid", "slurmctld.pid", "munge/pid"):
        try:
            os.kill(int((WORK / pid).read_text()), 15)
        except (OSError, ValueError):
            pass


def skip_without_slurm():
    path = f"{os.environ['PATH']}:/usr/sbin"
    missing = [program for program in ("slurmctld", "slurmd", "munged") if shutil.which(program, path=path) is None]
    if missing or os.getuid() != 0:
        print(f"skipped: no {', '.join(missing)} (Debian: slurm-wlm)" if missing else "skipped: not root")
        sys.exit(77)


def main():
    skip_without_slurm()
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    environment = {**os.environ, "SLURM_CONF": f"{WORK}/slurm.conf", "PATH": f"{MRVLC.parent}:{os.environ['PATH']}:/usr/sbin"}
    jobs = WORK / "jobs"
    small_models(jobs / "models", 11)
    (jobs / "models.txt").write_text("".join(f"models/m{i}.onnx\n" for i in range(11)))
    (jobs / "batch.slurm").write_text(re.search(r"```sh file=batch.slurm\n(.*?)```", PAGE.read_text(), re.S).group(1))
    try:
        start(environment)
        subprocess.run(["sbatch", "--wait", "batch.slurm"], check=True, env=environment, cwd=jobs, timeout=200)
    finally:
        stop()
    summary = json.loads((jobs / "out/batch.json").read_text())
    assert summary["compiled"] == 11 and summary["failed"] == 0, summary
    print("8 tasks, 11 models")


main()
