// Package resttest holds every answer that a test sees from a public listener against rest/openapi.yaml (§9), save the pages for
// people.
//
// TestMain calls Main, which puts the check into http.DefaultTransport, the transport of the tests' clients. A status, an error
// code, a header or a member that is not described becomes the error of that request, with route, status and JSON pointer. It
// fails the test binary even if a test takes the error for a lost connection. The body of an accepted request is checked against
// its schema, too. Answers are counted, so that a package can prove that it has seen everything that is described.
//
// The description is read and compiled once a process. Everything is safe for concurrent use.
package resttest
