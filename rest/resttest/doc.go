// Package resttest holds every answer that a test sees from a public listener against rest/openapi.yaml (§9), save the pages for
// people.
//
// Main stands in TestMain and puts the check into http.DefaultTransport, which is what the tests' clients use: a status, an error
// code, a header or a member that is not described becomes the error of that request, naming route, status and JSON pointer, and
// fails the test binary even where a test takes the error for a lost connection. The body of a request that was accepted is
// held against its schema, too. What was answered is counted, so that a package can prove that it has seen all that is described.
//
// The description is read and compiled once a process. Everything is safe for concurrent use.
package resttest
