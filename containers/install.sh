#!/bin/sh
# Installs scalestudy from a checkout into /opt/scalestudy: install.sh CHECKOUT "TORCH"
# TORCH is the requirement of torch for pip: the build must fit the drivers of the host. Dockerfile and
# scalestudy.def both run this script, so that the two images contain the same.
set -eu
checkout=$1
torch=$2

export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# git: `scalestudy guard --against REVISION`. ssh: runs on several hosts without a scheduler. g++: `compile: true`.
apt-get install -y -qq --no-install-recommends g++ git openssh-client
rm -rf /var/lib/apt/lists/*

python3 -m venv /opt/scalestudy
cd "$checkout"
# $torch is several arguments. With its own pin torch comes first: a loose requirement could bring another build.
# shellcheck disable=SC2086
/opt/scalestudy/bin/pip install --no-cache-dir --constraint constraints/base.txt $torch
/opt/scalestudy/bin/pip install --no-cache-dir --constraint constraints/base.txt '.[study,tune]'
