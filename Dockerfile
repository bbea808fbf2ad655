# Troupe's daemon and command, without agents: add those that you use. To build and run it:
#   docker build -t troupe .
#   docker run --init -v troupe:/home/node/.local/state/troupe -v "$PWD:/work" troupe
FROM node:24-slim AS build
WORKDIR /src
COPY . .
RUN npm ci --ignore-scripts && node scripts/build.ts --no-check && npm pack --ignore-scripts --pack-destination /tmp

FROM node:24-slim
RUN apt-get update \
  && apt-get install --yes --no-install-recommends git ca-certificates procps \
  && rm -rf /var/lib/apt/lists/*
COPY --from=build /tmp/troupe-*.tgz /tmp/
RUN npm install --global --no-audit --no-fund /tmp/troupe-*.tgz \
  && rm /tmp/troupe-*.tgz \
  && npm cache clean --force \
  && install -d -o node -g node -m 700 /home/node/.local/state/troupe \
  && chown -R node:node /home/node/.local
USER node
WORKDIR /work
VOLUME /home/node/.local/state/troupe
# The socket and the dashboard are reached from inside: docker exec CONTAINER troupe status.
CMD ["troupe", "serve"]
