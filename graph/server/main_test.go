package server_test

import (
	"os"
	"testing"

	"stoa/rest/resttest"
)

// TestMain checks REST's answers of twins against the API description.
func TestMain(m *testing.M) { os.Exit(resttest.Main(m, resttest.API)) }
