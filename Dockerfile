# An image of the server: docs/docker.md says how it is used. The farm's is examples/kubernetes/Dockerfile.
#
#   docker build -t loopbook-server .

# --- the virtual environment, made where compilers of Python packages may stay behind ---
FROM debian:13-slim AS build
# hadolint ignore=DL3008  # a distribution moves: its versions cannot be named
RUN apt-get update \
    && apt-get install -y --no-install-recommends python3 python3-venv \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY pyproject.toml hatch_build.py requirements.lock README.md LICENSE ./
COPY loopbook ./loopbook
# The versions that the lock names.
RUN python3 -m venv /opt/loopbook \
    && sed -e '/--hash=/d' -e 's/ *\\$//' requirements.lock >versions \
    && /opt/loopbook/bin/pip install --no-cache-dir --constraint versions '.[server]'

# --- what runs: Python, the compiler, OpenMP and BLAS; nobody's root ---
FROM debian:13-slim
# hadolint ignore=DL3008  # a distribution moves: its versions cannot be named
RUN apt-get update \
    && apt-get install -y --no-install-recommends python3 clang-19 libomp-19-dev libopenblas-dev \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 1000 loopbook \
    && install -d -o loopbook -g loopbook -m 700 /home/loopbook/.local/share/loopbook
COPY --from=build /opt/loopbook /opt/loopbook
ENV PATH=/opt/loopbook/bin:$PATH
USER 1000
WORKDIR /home/loopbook
# The book, where it is a file. STORE=postgresql://user@host/name and PGPASSWORD put it elsewhere.
VOLUME /home/loopbook/.local/share/loopbook
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
    CMD ["python3", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8080/readyz', timeout=4)"]
# What `docker run IMAGE …` adds goes to the command: --anonymous, say.
ENTRYPOINT ["sh", "-c", "exec loopbook serve --host 0.0.0.0 --port 8080 ${STORE:+--store \"$STORE\"} \"$@\"", "loopbook"]
