package onnxtest

import (
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Field numbers, element types and attribute types of onnx.proto, as far as they are used here.
const (
	modelIRVersion, modelGraph, modelOpset                    = 1, 7, 8
	opsetVersion                                              = 2
	graphNode, graphName, graphInitializer, graphIn, graphOut = 1, 2, 5, 11, 12
	nodeIn, nodeOut, nodeName, nodeOp, nodeAttribute          = 1, 2, 3, 4, 5
	attributeName, attributeInt, attributeInts, attributeType = 1, 3, 8, 20
	tensorDims, tensorType, tensorName, tensorRaw             = 1, 2, 8, 9
	valueName, valueType                                      = 1, 2
	typeTensor, typeElem, typeShape                           = 1, 1, 2
	shapeDim, dimValue, dimParam                              = 1, 1, 2

	elemFloat, elemInt64    = 1, 7
	attrTypeInt, attrTypeIs = 2, 7
)

// The version of the format and of its operations: old enough for every reader.
const (
	irVersion = 8
	opset     = 13
)

// message is a protocol buffer in the making.
type message []byte

func (m *message) bytes(field protowire.Number, b []byte) {
	*m = protowire.AppendBytes(protowire.AppendTag(*m, field, protowire.BytesType), b)
}

func (m *message) text(field protowire.Number, s string) { m.bytes(field, []byte(s)) }

func (m *message) number(field protowire.Number, n int64) {
	*m = protowire.AppendVarint(protowire.AppendTag(*m, field, protowire.VarintType), uint64(n))
}

// floatTensor is a constant of 32-bit floats; no dims: a scalar.
func floatTensor(name string, values []float32, dims ...int) []byte {
	raw := make([]byte, 0, 4*len(values))
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	return tensor(name, elemFloat, raw, dims)
}

// intTensor is a constant of 64-bit integers; no dims: a scalar.
func intTensor(name string, values []int64, dims ...int) []byte {
	raw := make([]byte, 0, 8*len(values))
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(v))
	}
	return tensor(name, elemInt64, raw, dims)
}

func tensor(name string, elem int64, raw []byte, dims []int) []byte {
	var t message
	for _, d := range dims {
		t.number(tensorDims, int64(d))
	}
	t.number(tensorType, elem)
	t.text(tensorName, name)
	t.bytes(tensorRaw, raw)
	return t
}

// value describes an input or output; an axis is a name (open) or a number.
func value(name string, elem int64, axes ...any) []byte {
	var shape, tensorOf, kind, v message
	for _, a := range axes {
		var dim message
		switch a := a.(type) {
		case string:
			dim.text(dimParam, a)
		case int:
			dim.number(dimValue, int64(a))
		}
		shape.bytes(shapeDim, dim)
	}
	tensorOf.number(typeElem, elem)
	tensorOf.bytes(typeShape, shape)
	kind.bytes(typeTensor, tensorOf)
	v.text(valueName, name)
	v.bytes(valueType, kind)
	return v
}

// attribute is a named setting of a node: an int or a list of ints.
type attribute struct {
	name string
	int  int64
	ints []int64
}

func (a attribute) encode() []byte {
	var m message
	m.text(attributeName, a.name)
	if a.ints == nil {
		m.number(attributeInt, a.int)
		m.number(attributeType, attrTypeInt)
		return m
	}
	for _, i := range a.ints {
		m.number(attributeInts, i)
	}
	m.number(attributeType, attrTypeIs)
	return m
}
