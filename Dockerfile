# tpa in a container:   docker build -t tpa . && docker run --rm -v "$PWD:/work" tpa trace.json.gz
FROM debian:12-slim AS build
WORKDIR /src
COPY . .
RUN cmake/install-packages && apt-get install -y --no-install-recommends git \
    && cmake --preset release && cmake --build build/release --target tpa pages \
    && cmake --install build/release --prefix /out --strip

FROM debian:12-slim
RUN apt-get update && apt-get install -y --no-install-recommends \
    libzstd1 libpcre2-8-0 libxxhash0 libsqlite3-0 libisal2 libmicrohttpd12 gnuplot-nox && rm -rf /var/lib/apt/lists/*
COPY --from=build /out /usr/local
WORKDIR /work
ENTRYPOINT ["tpa"]
CMD ["help"]
