import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';

// Sends back what it gets, to measure a WebSocket round trip between two processes.
const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
server.on('connection', (socket) => socket.on('message', (data) => socket.send(data)));
server.on('listening', () => process.send?.((server.address() as AddressInfo).port));
process.on('disconnect', () => process.exit());
