// Package secrets keeps what the environment says in confidence out of the reach of other processes.
//
// /proc/<pid>/environ shows a process's first environment for as long as it lives, whatever it unsets. Hide overwrites the secrets in
// that block, which root and every process of the same user could read otherwise; this program has copies of its own by then. Forget
// removes these copies, so that no program it starts gets them.
package secrets

/*
#include <string.h>
#include <stdlib.h>

extern char **environ;

static void hide(const char *name)
{
	size_t length = strlen(name);

	for (char **entry = environ; entry && *entry; entry++)
		if (!strncmp(*entry, name, length) && (*entry)[length] == '=')
			explicit_bzero(*entry + length + 1, strlen(*entry + length + 1));
}
*/
import "C"

import (
	"os"
	"unsafe"
)

// variable is one that may hold a secret.
type variable struct {
	name string
	// rereads says that something reads it again while the program runs: every new connection or backup.
	rereads bool
}

var variables = []variable{
	{name: "STOA_OPERATOR_TOKEN"},
	{name: "STOA_DATABASE_URL"},
	{name: "STOA_FILES_URL"},
	{name: "STOA_SMTP_URL"},
	{name: "AWS_ACCESS_KEY_ID"},
	{name: "AWS_SECRET_ACCESS_KEY"},
	{name: "AWS_SESSION_TOKEN"},
	{name: "OTEL_EXPORTER_OTLP_HEADERS"},
	{name: "OTEL_EXPORTER_OTLP_TRACES_HEADERS"},
	{name: "PGPASSWORD", rereads: true},
}

// Hide overwrites the secrets in the block that the kernel shows. os.Getenv goes on to return them. Call it before anything else.
func Hide() {
	for _, v := range variables {
		name := C.CString(v.name)
		C.hide(name)
		C.free(unsafe.Pointer(name))
	}
}

// Forget unsets the secrets. Call it once all settings have been read and used.
func Forget() {
	for _, v := range variables {
		if !v.rereads {
			_ = os.Unsetenv(v.name) // fails only for names that cannot be set
		}
	}
}
