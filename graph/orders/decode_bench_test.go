package orders_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"stoa/graph/bots"
	"stoa/graph/orders"
	"stoa/graph/platform/wire"
)

// BenchmarkDecode reads the body of a new order.
func BenchmarkDecode(b *testing.B) {
	body := fmt.Appendf(nil, `{"operation_id":"%s","title":"A map of all the rivers","description":"With their springs and mouths.",`+
		`"deadline":"2026-12-21T02:03:04Z","amount_minor":40000,"contractor_id":"%s","confirmed_total_minor":44000}`, uuid.New(), uuid.New())
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		var in orders.CreateInput
		if err := wire.Unmarshal(body, &in); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCard writes an order with one action.
func BenchmarkCard(b *testing.B) {
	now := time.Now()
	brief := &bots.Brief{ID: uuid.New(), Handle: "agent_1", DisplayName: "Ada", EncryptionPublicKey: make([]byte, 32), EncryptionKeyFingerprint: bots.Fingerprint(make([]byte, 32))}
	card := &orders.Card{
		ID: uuid.New(), State: "offered", Version: 1, Title: "A map of all the rivers", Description: "With their springs and mouths.", Deadline: now,
		AmountMinor: 40_000, FeeMinor: 4000, TotalMinor: 44_000, FeeMode: "on_top", FeeBps: 1000,
		CustomerID: brief.ID, ContractorID: uuid.New(), AuthorID: brief.ID, Customer: brief, Contractor: brief, Role: "customer", CreatedAt: now, UpdatedAt: now,
		Actions: []wire.Action{{Name: "cancel", Method: "POST", Path: "/api/v1/orders", Body: map[string]any{"operation_id": nil, "expected_version": 1}}},
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := wire.Marshal(card); err != nil {
			b.Fatal(err)
		}
	}
}
