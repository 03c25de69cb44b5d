# syntax=docker/dockerfile:1
FROM docker.io/library/python:3.13-slim AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY driftwatch ./driftwatch
RUN python3 -m venv /opt/driftwatch \
 && /opt/driftwatch/bin/pip install --no-cache-dir --disable-pip-version-check . \
 && /opt/driftwatch/bin/python -m compileall -q /opt/driftwatch/lib

FROM docker.io/library/python:3.13-slim
LABEL org.opencontainers.image.title="driftwatch" \
      org.opencontainers.image.description="Watches remote MCP servers from outside and says so, once, when something changes." \
      org.opencontainers.image.licenses="MIT"
COPY --from=build /opt/driftwatch /opt/driftwatch
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
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s CMD ["driftwatch", "healthcheck"]
ENTRYPOINT ["driftwatch"]
CMD ["run"]
