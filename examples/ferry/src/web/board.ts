export const row = (port: string, departs: string): string => `${port}  ${departs}`;
