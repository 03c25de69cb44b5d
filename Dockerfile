# syntax=docker/dockerfile:1
FROM python:3.13-slim AS build
WORKDIR /src
# Exactly the packages of the lock file, checked by their hashes, in a layer of their own.
COPY requirements.lock ./
RUN python3 -m venv /opt/driftwatch \
 && /opt/driftwatch/bin/pip install --no-cache-dir --disable-pip-version-check --require-hashes -r requirements.lock
COPY pyproject.toml README.md LICENSE ./
COPY driftwatch ./driftwatch
RUN /opt/driftwatch/bin/pip install --no-cache-dir --disable-pip-version-check --no-deps . \
 && /opt/driftwatch/bin/python -m compileall -q /opt/driftwatch/lib \
 && /opt/driftwatch/bin/pip uninstall --yes --quiet pip

FROM python:3.13-slim
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="driftwatch" \
      org.opencontainers.image.description="Watches remote MCP servers from outside and says so, once, when something changes." \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION"
COPY --from=build /opt/driftwatch /opt/driftwatch
# What a large tool list took goes back to the system when it is freed. Left to itself glibc learns from the first one to keep
# such blocks in its heaps: 60 MB more after twenty probes of a list of 4 MiB. And each thread would get a heap of its own,
# whose gaps grow for hours: 15 MB more after half an hour of 500 servers.
ENV MALLOC_MMAP_THRESHOLD_=524288 MALLOC_ARENA_MAX=2
# A fixed uid without a home: the image runs as any --user, with a read-only root and one volume.
RUN mkdir -p /data /etc/driftwatch && chown 10001:10001 /data && chmod 0777 /data
ENV PATH=/opt/driftwatch/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    DRIFTWATCH_CONFIG=/etc/driftwatch/config.toml
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s --retries=3 CMD ["driftwatch", "healthcheck"]
# In exec form: driftwatch is process 1, and hears SIGTERM itself.
ENTRYPOINT ["driftwatch"]
CMD ["run"]
