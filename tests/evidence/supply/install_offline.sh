#!/bin/sh
# Install kmcompile from the folder of `make offline` and compile a model, without a network.
# Usage: sh install_offline.sh WHEELHOUSE MODEL.pkl
# The network is off by a namespace of its own where that is permitted; otherwise pip gets no
# index, and a proxy that nobody answers.
set -eu
house=$1 model=$2
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
if unshare -rn true 2> /dev/null; then
    alone='unshare -rn'
    echo 'network: none, in a namespace of its own'
else
    alone='env http_proxy=http://127.0.0.1:9 https_proxy=http://127.0.0.1:9'
    echo 'network: a proxy that nobody answers'
fi
unset PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_FIND_LINKS PYTHONPATH || true
PIP_CONFIG_FILE=/dev/null
export PIP_CONFIG_FILE
"${PYTHON:-python3}" -m venv "$made/venv"
$alone "$made/venv/bin/python" -m pip install -qq --disable-pip-version-check --no-index \
    --find-links "$house" --require-hashes -r "$house/requirements.txt"
cp "$model" "$made/model.pkl"
cd "$made"
$alone venv/bin/kmcompile model.pkl --mode exact --verify none --quiet --out compiled
head -n 1 compiled/model.c
