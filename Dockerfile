# A small image: one static program and nothing else.
#   docker build -t locus . && docker run --rm -v "$PWD:/work" locus check .
FROM rust:1-bookworm AS build
WORKDIR /src
COPY . .
RUN cargo rustc --locked --profile dist --package locus --bin locus -- -C target-feature=+crt-static
# A program that needs a library would not start in the image.
RUN if ldd target/dist/locus; then exit 1; fi

FROM scratch
COPY --from=build /src/target/dist/locus /locus
WORKDIR /work
USER 65534:65534
ENTRYPOINT ["/locus"]
