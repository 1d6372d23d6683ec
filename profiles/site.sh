# Every node of a launch runs these lines before its ranks start: what a job script of your site begins with. They are
# read inside SLURM jobs and on hosts named in SCALESTUDY_HOSTS; on a host by itself the shell you start from decides.

# module load cuda nccl
# export NCCL_SOCKET_IFNAME=ib0      # the interface between nodes; GLOO_SOCKET_IFNAME for CPUs
