# A server of models, each a directory below /models:
#
#   docker build -t phrasebeam .
#   docker run -p 127.0.0.1:8000:8000 -v "$PWD/models:/models:ro" -v corrections:/projects phrasebeam \
#     serve --model /models/de-en --host 0.0.0.0 --projects /projects
#
# Other commands take the place of `serve`. Kernels are compiled when the image is built, for the processor of that
# machine; on another kind of processor they are compiled once more in each container.
FROM python:3.12-slim
COPY . /src
RUN pip install --no-cache-dir "/src[server,files]" && rm -r /src
RUN useradd --create-home phrasebeam && mkdir /projects && chown phrasebeam /projects
USER phrasebeam
RUN phrasebeam warm-up
VOLUME /projects
EXPOSE 8000
HEALTHCHECK CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8000/health')"]
ENTRYPOINT ["phrasebeam"]
CMD ["serve", "--help"]
