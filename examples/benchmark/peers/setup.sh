#!/usr/bin/env bash
# Set up what `make bench` needs, in a folder that can be thrown away:   setup.sh FOLDER
#
# FOLDER/venv has this checkout and the Python packages of requirements.txt; FOLDER/sources the C of
# CMSIS-DSP and LIBSVM; FOLDER/newlib the C library for Arm, unpacked and not installed. What
# cannot be had is named, and the table says so. Does nothing that is done already.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:?usage: setup.sh FOLDER}
mkdir -p "$folder/sources" "$folder/newlib"
folder=$(cd "$folder" && pwd)

say() { echo "bench: $*" >&2; }

if ! cmp -s "$here/requirements.txt" "$folder/venv/installed.txt"; then
    say "installing the generators"
    "$here/../../../.venv/bin/python" -m venv --clear "$folder/venv"
    "$folder/venv/bin/pip" install --quiet --quiet --disable-pip-version-check \
        -e "$here/../../.." -r "$here/requirements.txt"
    cp "$here/requirements.txt" "$folder/venv/installed.txt"
fi

for name in cmsisdsp==1.10.3 libsvm-official==3.37.0; do
    if [ ! -d "$folder/sources/${name%%==*}" ]; then
        rm -rf "$folder/sources/download" && mkdir "$folder/sources/download"
        if "$folder/venv/bin/pip" download --quiet --quiet --disable-pip-version-check --no-deps \
            --dest "$folder/sources/download" --no-binary "${name%%==*}" "$name" 2> /dev/null; then
            mkdir "$folder/sources/download/unpacked"
            tar xzf "$folder/sources/download"/*.tar.gz -C "$folder/sources/download/unpacked" \
                --strip-components 1
            mv "$folder/sources/download/unpacked" "$folder/sources/${name%%==*}"
        else
            say "no sources of $name"
        fi
    fi
done
rm -rf "$folder/sources/download"

if [ ! -d "$folder/newlib/usr" ]; then
    if command -v apt-get dpkg-deb > /dev/null &&
        (cd "$folder/newlib" && apt-get download -qq -o APT::Sandbox::User=root \
            libnewlib-arm-none-eabi libnewlib-dev); then
        for package in "$folder/newlib"/*.deb; do
            dpkg-deb -x "$package" "$folder/newlib"
        done
        rm -f "$folder/newlib"/*.deb
    else
        say "no C library for Arm: the peers are measured on the host only"
    fi
fi
