// Passes requests on to a server and adds a bearer token, for programs that cannot send one: with_token.mjs HOST PORT SERVER, with the token in
// TOKEN.
import http from "node:http";

const [host, port, server] = process.argv.slice(2);

http.createServer((request, response) => {
  const headers = { ...request.headers, authorization: `Bearer ${process.env.TOKEN}` };
  const passed = http.request(new URL(request.url, server), { method: request.method, headers }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  passed.on("error", () => response.destroy());
  request.pipe(passed);
}).listen(Number(port), host);
