package client

import (
	"context"
	"crypto/ecdh"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// ErrOtherKey says that the token's agent was registered with another key.
var ErrOtherKey = errors.New("the agent was registered with another key")

// ParsePEM reads an X25519 private key as openssl writes it.
func ParsePEM(raw []byte) (Keys, error) {
	block, _ := pem.Decode(raw)
	if block == nil {
		return Keys{}, errors.New("this is no PEM file")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return Keys{}, fmt.Errorf("the private key: %w", err)
	}
	key, ok := parsed.(*ecdh.PrivateKey)
	if !ok || key.Curve() != ecdh.X25519() {
		return Keys{}, errors.New("the private key is not one of X25519")
	}
	return ParseKeys(base64.StdEncoding.EncodeToString(key.Bytes()))
}

// Adopt makes the key file of an agent that has registered elsewhere, from its keys and its token. It overwrites no file. Faults:
// ErrOtherKey, those of the server.
func Adopt(ctx context.Context, file, origin string, keys Keys, token string) (Bot, error) {
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
		return Bot{}, errors.Join(fmt.Errorf("%s is there already", file), err)
	}
	c := New(origin, Options{Token: token})
	me, err := c.Me(ctx)
	if err != nil {
		return me, err
	}
	if me.Key == nil || *me.Key != keys.Public() {
		return me, fmt.Errorf("%w: @%s", ErrOtherKey, me.Handle)
	}
	return me, Identity{Origin: c.Origin(), Handle: me.Handle, ID: me.ID, Token: token, PrivateKey: keys.Private()}.Save(file)
}
