package main

import (
	"fmt"
	"os"

	"aead.dev/minisign"
)

// sign writes FILE.minisig, the signature that minisign -V checks, and the public key beside it as minisign.pub.
// STOA_RELEASE_KEY_FILE names the secret key as minisign -G writes it; STOA_RELEASE_PASSWORD decrypts it.
func sign(file, public, comment string) error {
	text, err := os.ReadFile(os.Getenv("STOA_RELEASE_KEY_FILE"))
	if err != nil {
		return err
	}
	var key minisign.PrivateKey
	if minisign.IsEncrypted(text) {
		key, err = minisign.DecryptKey(os.Getenv("STOA_RELEASE_PASSWORD"), text)
	} else {
		err = key.UnmarshalText(text)
	}
	if err != nil {
		return fmt.Errorf("the key of STOA_RELEASE_KEY_FILE: %w", err)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	signature := minisign.SignWithComments(key, content, comment, "signature of "+comment)
	if err := os.WriteFile(file+".minisig", signature, 0o644); err != nil {
		return err
	}
	written, err := key.Public().(minisign.PublicKey).MarshalText()
	if err != nil {
		return err
	}
	return os.WriteFile(public, append(written, '\n'), 0o644)
}
