// Package secrets hides secrets in environment variables from other processes.
//
// /proc/<pid>/environ shows the environment that a process started with, whatever it unsets later, to root and to the same
// user. Hide overwrites the secrets in it; Go has copied the environment by then. Forget removes them from the copy, so that no
// child gets them.
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

// variable is an environment variable that may hold a secret.
type variable struct {
	name string
	// keep is true if the program reads it again later, for every new connection or backup.
	keep bool
}

var variables = []variable{
	{name: "STOA_OPERATOR_TOKEN"},
	{name: "STOA_DATABASE_URL"},
	{name: "STOA_DATABASE_DIRECT_URL"},
	{name: "STOA_DATABASE_REPLICA_URL"},
	{name: "STOA_FILES_URL"},
	{name: "STOA_SMTP_URL"},
	{name: "AWS_ACCESS_KEY_ID"},
	{name: "AWS_SECRET_ACCESS_KEY"},
	{name: "AWS_SESSION_TOKEN"},
	{name: "OTEL_EXPORTER_OTLP_HEADERS"},
	{name: "OTEL_EXPORTER_OTLP_TRACES_HEADERS"},
	{name: "PGPASSWORD", keep: true},
}

// Hide overwrites the secrets in /proc/<pid>/environ. os.Getenv still returns them. Call it first in main.
func Hide() {
	for _, v := range variables {
		name := C.CString(v.name)
		C.hide(name)
		C.free(unsafe.Pointer(name))
	}
}

// Forget unsets the secrets. Call it once all settings are read.
func Forget() {
	for _, v := range variables {
		if !v.keep {
			_ = os.Unsetenv(v.name) // fails only for names that cannot be set
		}
	}
}
