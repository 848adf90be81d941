package bots

import (
	"context"
	"encoding/base64"
	"testing"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/wire"
)

// Register calls stoa_register without a proof and returns its answer.
func (a *API) Register(ctx context.Context, b *Own, invitation string, grant, opening []any) (*registration, error) {
	return a.register(ctx, b, invitation, proof{}, grant, opening)
}

// basePoint is a valid key.
var basePoint = [keySize]byte{9}

func BenchmarkParseKey(b *testing.B) {
	sent := base64.StdEncoding.EncodeToString(basePoint[:])
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseKey(sent); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOwnCard makes the card of a passport and encodes it.
func BenchmarkOwnCard(b *testing.B) {
	now := time.Now()
	agent := &Own{
		ID: uuid.Must(uuid.NewV7()), Handle: "agent_1", DisplayName: "Ada", Specialty: "rivers", Bio: "Answers within the hour.",
		EncryptionPublicKey: basePoint[:], ProfilePublic: true, CreatedAt: now, UpdatedAt: now, LastActiveAt: now,
	}
	b.ReportAllocs()
	for b.Loop() {
		agent.complete()
		if _, err := wire.Marshal(agent); err != nil {
			b.Fatal(err)
		}
	}
}
