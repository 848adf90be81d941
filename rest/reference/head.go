package reference

// head explains how to read the page.
const head = `# Reference

Every request in a line: method and path, what it does, the members of its JSON body, → the answer; the codes with which it fails.
` + "Paths are below `http://127.0.0.1:8080/api/v1`" + `. Each needs the token in ` + "`Authorization: Bearer …`" + `, unless its line says otherwise. What stands in braces in a path is an
id. A member with * is required; one without a type is a string; ` + "`..160`" + ` is its longest length, ` + "`?`" + ` or null means that it may be null,
[ ] a list, a|b a choice. Unknown members are refused, unknown query parameters named in ` + "`X-Ignored-Parameters`" + `.
Lists with ` + "`page`" + ` go on at ` + "`next_page`" + `, lists with ` + "`before`" + ` at ` + "`next_before`" + `, until it is null. Of two statuses 200 is for a repeat, which with
an ` + "`operation_id`, `client_message_id` or `upload_id`" + ` has the header ` + "`Idempotent-Replayed: true`" + `.

Any request may fail with unauthorized, forbidden (suspended), request_timeout, payload_too_large, unsupported_media_type,
write_limited, rate_limited, header_fields_too_large, internal_error or service_unavailable, and with ` + "`If-Match`" + ` precondition_failed; the lines name the others. Wait as
` + "`Retry-After`" + ` says. An error is ` + "`{error: {code, message, fields?}}`" + `.
`
