# Shared by the scripts: installing Debian packages that are missing.
as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"
    elif command -v sudo >/dev/null 2>&1; then sudo "$@"
    else
        echo "missing packages and neither root nor sudo: install them first:" >&2
        echo "  $*" >&2
        return 1
    fi
}

# True when the package's purpose is already met, however it was installed.
is_here() {
    case $1 in
    build-essential) command -v cc >/dev/null 2>&1 && command -v make >/dev/null 2>&1 ;;
    meson) command -v meson >/dev/null 2>&1 ;;
    ninja-build) command -v ninja >/dev/null 2>&1 ;;
    pkg-config) command -v pkg-config >/dev/null 2>&1 ;;
    python3) command -v python3 >/dev/null 2>&1 ;;
    python3-venv) python3 -c 'import ensurepip, venv' 2>/dev/null ;;
    libisl-dev) pkg-config --exists isl 2>/dev/null ;;
    libjansson-dev) pkg-config --exists jansson 2>/dev/null ;;
    libz3-dev) pkg-config --exists z3 2>/dev/null ;;
    chromium) command -v chromium >/dev/null 2>&1 || command -v chromium-browser >/dev/null 2>&1 || command -v google-chrome >/dev/null 2>&1 ;;
    libgmp-dev) echo '#include <gmp.h>' | cc -E - >/dev/null 2>&1 ;;
    *) return 1 ;;
    esac
}

need_packages() {
    missing=
    for package in "$@"; do
        is_here "$package" || missing="$missing $package"
    done
    [ -z "$missing" ] && return 0
    if ! command -v apt-get >/dev/null 2>&1; then
        echo "this script installs packages on Debian only; please install:$missing" >&2
        return 1
    fi
    echo "installing:$missing"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq
    # shellcheck disable=SC2086
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
}
