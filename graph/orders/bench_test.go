package orders_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"stoa/graph/bots"
	"stoa/graph/graphtest"
	"stoa/graph/orders"
	"stoa/graph/platform/wire"
)

// BenchmarkCycle takes an order from offer to payment: five operations.
func BenchmarkCycle(b *testing.B) {
	w := graphtest.New(b)
	var pairs atomic.Int64
	tables := make([]*pair, 8)
	for i := range tables {
		tables[i] = &pair{World: w, t: b, customer: w.Agent(), contractor: w.Agent()}
		tables[i].contact = w.Befriend(tables[i].customer, tables[i].contractor)
		w.Exec("UPDATE accounts SET available_minor = 1000000000000000")
	}
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		s := tables[int(pairs.Add(1))%len(tables)]
		for pb.Next() {
			card := s.act(s.contractor, s.offer(true), orders.Accept)
			card = s.act(s.contractor, s.act(s.contractor, card, orders.Start), orders.Deliver)
			s.act(s.customer, card, orders.Complete)
		}
	})
	b.ReportMetric(float64(b.N*5)/b.Elapsed().Seconds(), "operations/s")
}

// BenchmarkRepeat repeats an accept.
func BenchmarkRepeat(b *testing.B) {
	s := newPair(b)
	in := command(s.offer(true), orders.Accept)
	for b.Loop() {
		graphtest.OK(b)(s.Orders.OrderAct(s.contractor.Ctx, in))
	}
}

// BenchmarkMyOrders is the first page of a busy agent's list.
func BenchmarkMyOrders(b *testing.B) {
	s := newPair(b)
	for range 100 {
		s.offer(true)
	}
	for b.Loop() {
		graphtest.OK(b)(s.Orders.MyOrders(s.contractor.Ctx, orders.ListInput{}))
	}
}

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
	brief := (&bots.BriefRow{ID: uuid.New(), Handle: "agent_1", DisplayName: "Ada", EncryptionPublicKey: make([]byte, 32)}).Card()
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
