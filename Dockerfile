# A server for a team: one project over HTTP, with the team's database. See docs/teams.md.
# Every package is the one that the lock names, by its hash.
FROM python:3.13-slim AS build
WORKDIR /build
COPY requirements-server.lock ./
RUN python -m venv /opt/clew \
 && /opt/clew/bin/pip install --no-cache-dir --require-hashes --requirement requirements-server.lock
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN /opt/clew/bin/pip install --no-cache-dir --no-deps --no-build-isolation .

FROM python:3.13-slim
# git is as old or new as the base image.
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install --yes --no-install-recommends git \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --create-home --uid 1000 clew
COPY --from=build /opt/clew /opt/clew
ENV PATH=/opt/clew/bin:$PATH
USER 1000
WORKDIR /project
EXPOSE 8484
# A server that asks for a token is healthy too.
HEALTHCHECK --interval=10s --timeout=3s --start-period=120s --retries=3 \
  CMD ["python", "-c", "import http.client as h; c = h.HTTPConnection('127.0.0.1', 8484, timeout=2); c.request('GET', '/healthz'); raise SystemExit(c.getresponse().status not in (200, 401))"]
ENTRYPOINT ["clew"]
CMD ["serve", "/project", "--transport", "http", "--host", "0.0.0.0", "--port", "8484"]
