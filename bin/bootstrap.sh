# Sourced by bin/run, bin/manage, bin/test and bin/bench: finds a Python and hands over to bin/bootstrap.py.
# Usage: . "$here/bootstrap.sh"; bootstrap base|dev COMMAND [ARGUMENTS]

find_python() {
    for name in ${GATEHOUSE_PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
        if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            command -v "$name"
            return 0
        fi
    done
    return 1
}

bootstrap() {
    if ! python=$(find_python); then
        echo "Gatehouse needs Python 3.11 or newer and found none." >&2
        echo "Install it (Debian or Ubuntu: apt-get install python3 python3-venv; a Mac:" >&2
        echo "python.org or brew install python), or name one: GATEHOUSE_PYTHON=/path/to/python3." >&2
        exit 1
    fi
    exec "$python" -I "$here/bootstrap.py" "$@"
}
