package main

import (
	"encoding/base64"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
)

// givenToken is an operators' token of the shortest length that is accepted.
const givenToken = "given-by-the-test-0123456789abcd"

func (s *testServer) operatorStatus(token string) int {
	s.t.Helper()
	return s.postGraphQL(token, "{settings{feeBps}}").status
}

func TestOperatorToken(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	info, err := os.Stat(filepath.Join(s.data, operatorTokenFile))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())
	token := s.operatorToken()
	require.GreaterOrEqual(t, len(token), 43)
	require.Equal(t, http.StatusOK, s.operatorStatus(token))
	require.Equal(t, http.StatusUnauthorized, s.operatorStatus("wrong"))
	require.NotContains(t, s.log.String(), token)

	folder := t.TempDir()
	written := map[string]string{"database": graphtest.NewDatabase(t), "token": givenToken}
	for name, secret := range written {
		written[name] = filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(written[name], []byte(secret+"\n"), 0o600))
	}
	read := startServer(t, "STOA_DATABASE_URL_FILE="+written["database"], "STOA_OPERATOR_TOKEN_FILE="+written["token"],
		"STOA_SECRET_KEY_FILE="+sharedKey)
	require.Equal(t, http.StatusOK, read.operatorStatus(givenToken))
	require.NoFileExists(t, filepath.Join(read.data, operatorTokenFile))
	require.NoDirExists(t, filepath.Join(read.data, "postgres"), "it uses the database of the file")
}

func TestOperatorTokenFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	var kept operatorSettings
	first, err := kept.token(folder)
	require.NoError(t, err)
	require.NoError(t, makeSecret(filepath.Join(folder, operatorTokenFile), base64.RawURLEncoding), "somebody was faster")
	second, err := kept.token(folder)
	require.NoError(t, err)
	require.Equal(t, first, second)
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, entries, 1)

	require.NoError(t, os.WriteFile(filepath.Join(folder, operatorTokenFile), []byte("\n"), 0o600))
	_, err = kept.token(folder)
	require.ErrorContains(t, err, "is empty")
}

func TestOperatorTokenRules(t *testing.T) {
	t.Parallel()
	for token, want := range map[string]string{
		"given":                           "--operator-token has 5 characters and must have at least 32",
		givenToken[1:]:                    "--operator-token has 31 characters and must have at least 32",
		givenToken + " and more":          "--operator-token may hold only ASCII",
		strings.Repeat("\u00e9", 40):      "--operator-token may hold only ASCII",
		strings.Repeat("token\n", 8)[:46]: "--operator-token may hold only ASCII",
	} {
		err := operatorSettings{OperatorToken: token}.Validate()
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), token)
	}
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, operatorTokenFile), []byte("written by hand\n"), 0o600))
	_, err := operatorSettings{}.token(folder)
	require.ErrorContains(t, err, "may hold only")
	require.NoError(t, os.WriteFile(filepath.Join(folder, operatorTokenFile), []byte("written-by-hand\n"), 0o600))
	_, err = operatorSettings{}.token(folder)
	require.ErrorContains(t, err, operatorTokenFile+" has 15 characters")
	require.NoError(t, operatorSettings{OperatorToken: givenToken}.Validate())
}
