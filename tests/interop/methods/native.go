// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	_ "github.com/grafana/pyroscope/api/gen/proto/go/adhocprofiles/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
)

// gRPC's own Go client: health, reflection, and the descriptors beside the published ones.
func (t *tests) native(address string) {
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if !t.fine("connecting", err) {
		return
	}
	defer conn.Close()
	t.health(conn)
	t.reflection(conn)
}

func (t *tests) health(conn *grpc.ClientConn) {
	c := healthv1.NewHealthClient(conn)
	for _, service := range []string{"", "push.v1.PusherService"} {
		a, err := c.Check(t.ctx, &healthv1.HealthCheckRequest{Service: service})
		if t.fine("health Check", err) {
			t.equal("health Check", a.Status, healthv1.HealthCheckResponse_SERVING)
		}
	}
	_, err := c.Check(t.ctx, &healthv1.HealthCheckRequest{Service: "no.such.Service"})
	t.equal("health Check of nothing", status.Code(err), codes.NotFound)
	w, err := c.Watch(t.ctx, &healthv1.HealthCheckRequest{})
	if t.fine("health Watch", err) {
		a, err := w.Recv()
		if t.fine("health Watch", err) {
			t.equal("health Watch", a.Status, healthv1.HealthCheckResponse_SERVING)
		}
	}
}

func (t *tests) reflection(conn *grpc.ClientConn) {
	s, err := reflectionv1.NewServerReflectionClient(conn).ServerReflectionInfo(t.ctx)
	if !t.fine("reflection", err) {
		return
	}
	ask := func(r *reflectionv1.ServerReflectionRequest) *reflectionv1.ServerReflectionResponse {
		if !t.fine("reflection", s.Send(r)) {
			return nil
		}
		a, err := s.Recv()
		if !t.fine("reflection", err) {
			return nil
		}
		return a
	}
	list := ask(&reflectionv1.ServerReflectionRequest{MessageRequest: &reflectionv1.ServerReflectionRequest_ListServices{}})
	for _, service := range list.GetListServicesResponse().GetService() {
		a := ask(&reflectionv1.ServerReflectionRequest{MessageRequest: &reflectionv1.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: service.Name}})
		t.compare(service.Name, a.GetFileDescriptorResponse().GetFileDescriptorProto())
	}
	t.ok("reflection", len(list.GetListServicesResponse().GetService()) > 10, "%v", list)
	t.fine("reflection ends", s.CloseSend())
}

// The files must make a whole, and say of each message what the published API says.
func (t *tests) compare(service string, raw [][]byte) {
	set := &descriptorpb.FileDescriptorSet{}
	for _, b := range raw {
		f := &descriptorpb.FileDescriptorProto{}
		if !t.fine(service+": a file", proto.Unmarshal(b, f)) {
			return
		}
		set.File = append([]*descriptorpb.FileDescriptorProto{f}, set.File...)
	}
	files, err := protodesc.NewFiles(set)
	if !t.fine(service+": files", err) {
		return
	}
	files.RangeFiles(func(f protoreflect.FileDescriptor) bool {
		t.compareMessages(f.Messages())
		return true
	})
}

func fieldText(f protoreflect.FieldDescriptor) string {
	return fmt.Sprint(f.Number(), " ", f.Name(), " ", f.Kind(), " ", f.Cardinality(), " ", f.JSONName())
}

func (t *tests) compareMessages(list protoreflect.MessageDescriptors) {
	for i := 0; i < list.Len(); i++ {
		ours := list.Get(i)
		d, err := protoregistry.GlobalFiles.FindDescriptorByName(ours.FullName())
		theirs, ok := d.(protoreflect.MessageDescriptor)
		if err != nil || !ok {
			continue // not in the program that this is
		}
		for k := 0; k < theirs.Fields().Len(); k++ {
			want := theirs.Fields().Get(k)
			got := ours.Fields().ByNumber(want.Number())
			if t.ok(string(want.FullName()), got != nil, "is not described") {
				t.equal(string(want.FullName()), fieldText(got), fieldText(want))
			}
		}
	}
}
