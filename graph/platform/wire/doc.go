// Package wire is the one place that turns Go values into JSON and JSON into Go values (§4, contract §1).
//
// Outgoing JSON is deterministic: equal values give equal bytes. Incoming JSON is strict: one UTF-8 object, every
// member known, named once and of the right type, nothing after it. Text rules (lengths, control characters) belong
// to graph/platform/text and required-ness to the domains, whose inputs have a pointer for each field.
//
// Every function is pure and safe for concurrent use. What a sender did wrong comes back as *Error; any other error
// is a defect of this program.
package wire
