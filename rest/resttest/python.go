package resttest

import (
	"os/exec"
	"testing"
)

// PythonWithNaCl is a Python that has PyNaCl, a client of messages that is none of ours. The test is skipped if this machine has none;
// make test installs one.
func PythonWithNaCl(t testing.TB) string {
	t.Helper()
	return pythonWith(t, "import nacl.public", "PyNaCl (Debian: python3-nacl)")
}

// PythonWithJWT is a Python that has PyJWT, a reader of receipts that is none of ours. The test is skipped if this machine has none; make
// test installs one.
func PythonWithJWT(t testing.TB) string {
	t.Helper()
	return pythonWith(t, "import jwt, cryptography", "PyJWT (Debian: python3-jwt, python3-cryptography)")
}

func pythonWith(t testing.TB, imports, missing string) string {
	t.Helper()
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if exec.CommandContext(t.Context(), name, "-c", imports).Run() == nil {
			return name
		}
	}
	t.Skip("no python3 with " + missing)
	return ""
}
