# Every node of a run executes these lines before its ranks start. Put the first lines of your site's job scripts here.
# They are read in SLURM jobs and on hosts named in SCALESTUDY_HOSTS; on a single host the environment of your shell is used.

# module load cuda nccl
# export NCCL_SOCKET_IFNAME=ib0      # the network interface between nodes; GLOO_SOCKET_IFNAME for CPUs
