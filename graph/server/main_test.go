package server_test

import (
	"os"
	"testing"

	"stoa/rest/resttest"
)

// TestMain holds what REST answers to its twins against the description.
func TestMain(m *testing.M) { os.Exit(resttest.Main(m, resttest.API)) }
